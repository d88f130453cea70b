def close(conn, log):
    try:
        conn.flush()
    finally:
        conn.close()
        return log('closed')

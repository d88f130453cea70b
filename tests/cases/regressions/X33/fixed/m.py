def close(conn, log):
    try:
        conn.flush()
    finally:
        conn.close()
    done = log('closed')
    return done

from app.m import X

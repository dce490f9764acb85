-- é
SELECT--x
1 -- end
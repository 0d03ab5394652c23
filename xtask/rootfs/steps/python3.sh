cat >program.py <<'END'
import hashlib, json, zlib, struct, threading, subprocess, fractions, decimal, random, re, sys

def pi(digits):
    q, r, t, k, n, l, out = 1, 0, 1, 1, 3, 3, ''
    while len(out) < digits:
        if 4 * q + r - t < n * t:
            out += str(n)
            q, r, n = 10 * q, 10 * (r - n * t), (10 * (3 * q + r)) // t - 10 * n
        else:
            q, r, t, k, n, l = q * k, (2 * q + r) * l, t * l, k + 1, (q * (7 * k + 2) + r * l) // (t * l), l + 2
    return out

print(sys.version_info[0], struct.calcsize('P'), sys.byteorder)
print('pi', pi(300)[-40:])
print('sha', hashlib.sha256(b'vambrace' * 100000).hexdigest())
text = json.dumps({'n': list(range(1000)), 's': 'ä' * 10}, sort_keys=True).encode()
print('zlib', zlib.crc32(text), zlib.decompress(zlib.compress(text, 9)) == text)
print('power', pow(3, 2 ** 20, 2 ** 61 - 1), fractions.Fraction(1, 3) + fractions.Fraction(1, 6))
decimal.getcontext().prec = 60
print('root', decimal.Decimal(2).sqrt())
print('float', sum(1 / n for n in range(1, 100000)), 0.1 + 0.2, 2 ** 0.5, float('1e308') * 10)
random.seed(7)
values = [random.random() for _ in range(50000)]
print('random', sorted(values)[25000], hash(tuple(values[:100])))
total = [0]
lock = threading.Lock()
def work():
    for n in range(2000):
        with lock:
            total[0] += n
threads = [threading.Thread(target=work) for _ in range(8)]
[t.start() for t in threads]
[t.join() for t in threads]
print('threads', total[0])
print('words', len(re.findall(r'\b\w*9\w*\b', ' '.join(map(str, range(20000))))))
print('child', subprocess.run(['sh', '-c', 'echo $((6 * 7))'], capture_output=True, text=True).stdout.strip())
try:
    [][1]
except IndexError as error:
    print('error', error)
END
python3 program.py

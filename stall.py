import json,collections
s=json.load(open('/work/tmp/soak/stall.json')); off=s['traces'][0]['timestamp']-s['t0']; s['gaps']=[(a+off,b+off) for a,b in s['gaps']]
def name(f): return f"{f.get('name')} {str(f.get('sourceURL') or '').split('/')[-1]}:{f.get('line')}"
c=collections.Counter(); sf=collections.Counter()
for t in s['traces']:
    if any(a<=t['timestamp']<=b for a,b in s['gaps']):
        fs=[name(f) for f in t['frames']]
        if fs: sf[fs[0]]+=1
        for f in set(fs): c[f]+=1
print(sf.most_common(15)); 
for k,v in c.most_common(30): print(v,k)

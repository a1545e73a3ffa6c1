package model

// attentionGrain is the number of multiplications worth waking a worker for.
const attentionGrain = 1 << 14

// attention computes, for every row of the step, the attention over the positions
// up to its own. Rows and KV heads are shared out among the workers.
func (m *Model) attention(pool *KVPool, layer int) {
	c := &m.config
	size := c.Heads / c.KVHeads * c.HeadDim // of the query heads that share a KV head
	m.work.run(len(m.rows)*c.KVHeads, 1+attentionGrain/(m.longest*size), func(worker, lo, hi int) {
		for i := lo; i < hi; i++ {
			t, h := i/c.KVHeads, i%c.KVHeads
			q, out := m.q[i*size:(i+1)*size], m.attended.x[i*size:(i+1)*size]
			attendHead(pool, layer, h, m.rows[t], q, out, m.scores[worker])
		}
	})
}

// attendHead is the attention of the query heads that share one KV head. q is
// already scaled by 1/sqrt(headDim). Sums run in the order of elements and of
// positions, so blocks and chunks do not show in the result. scores has room for
// whole blocks: slots past the row's position are computed and not used.
func attendHead(pool *KVPool, layer, head int, r row, q, out []float32, scores []float32) {
	d, n := pool.headDim, r.position+1
	for g := 0; g < len(q); g += d {
		for p, i := 0, 0; p < n; p, i = p+pool.blockSize, i+1 {
			s := scores[p : p+pool.blockSize]
			clear(s)
			pool.addScores(layer, r.blocks[i], head, q[g:g+d], s)
		}
		softmax(scores[:n])
		o := out[g : g+d]
		clear(o)
		for p, i := 0, 0; p < n; p, i = p+pool.blockSize, i+1 {
			pool.addValues(layer, r.blocks[i], head, scores[p:min(p+pool.blockSize, n)], o)
		}
	}
}

// addRows adds the rows of a matrix, each times its weight, to out, in the order of
// rows. A row is as long as out. Eight sums at a time stay in registers, enough to
// hide the latency of an addition.
func addRows[T float32 | int8](weights []float32, rows []T, out []float32) {
	n, j := len(out), 0
	for ; j+8 <= n; j += 8 {
		o := (*[8]float32)(out[j:])
		a, b, c, d, e, f, g, h := o[0], o[1], o[2], o[3], o[4], o[5], o[6], o[7]
		for i, w := range weights {
			v := (*[8]T)(rows[i*n+j:])
			a += w * float32(v[0])
			b += w * float32(v[1])
			c += w * float32(v[2])
			d += w * float32(v[3])
			e += w * float32(v[4])
			f += w * float32(v[5])
			g += w * float32(v[6])
			h += w * float32(v[7])
		}
		*o = [8]float32{a, b, c, d, e, f, g, h}
	}
	for ; j < n; j++ {
		for i, w := range weights {
			out[j] += w * float32(rows[i*n+j])
		}
	}
}

package model

import "encoding/binary"

// The K-types of GGML hold 256 weights in a super-block: eight parts of 32 (Q4_K,
// Q5_K) or sixteen of 16 (Q6_K), whose integer scales are relative to a float16.

// partScales gives scale and minimum of the eight parts of a Q4_K or Q5_K super-block.
// Two float16 are their units. Twelve bytes hold 6 bits for each: the first four scales and
// minima lie in the low bits of bytes 0 to 3 and 4 to 7, the others in the nibbles of
// bytes 8 to 11 with their upper two bits on top of bytes 0 to 7.
func partScales(head *[16]byte, scale, lowest *[spanBlocks]float32) {
	d, l := finiteHalf(binary.LittleEndian.Uint16(head[0:])), finiteHalf(binary.LittleEndian.Uint16(head[2:]))
	packed := head[4:]
	for i := range 4 {
		a, b, c := packed[i], packed[i+4], packed[i+8]
		scale[i], lowest[i] = d*float32(a&63), l*float32(b&63)
		scale[i+4], lowest[i+4] = d*float32(c&15|a>>6<<4), l*float32(c>>4|b>>6<<4)
	}
}

// setScales fills them in.
func setScales(head *[16]byte, into *[spanBlocks]weights32) {
	var scale, lowest [spanBlocks]float32
	partScales(head, &scale, &lowest)
	for i := range into {
		into[i].scale, into[i].other = scale[i], lowest[i]
	}
}

// words is 32 bytes as numbers.
func words(b *[32]byte) (v0, v1, v2, v3 uint64) {
	return binary.LittleEndian.Uint64(b[0:]), binary.LittleEndian.Uint64(b[8:]), binary.LittleEndian.Uint64(b[16:]), binary.LittleEndian.Uint64(b[24:])
}

// unpackQ4K reads scales and 128 bytes: 32 of them hold part 2i in the low nibbles
// and part 2i+1 in the high ones.
func unpackQ4K(b *[144]byte, into *[spanBlocks]weights32) {
	setScales((*[16]byte)(b[:]), into)
	for i := range 4 {
		nibs, low, high := (*[32]byte)(b[16+32*i:]), &into[2*i].word, &into[2*i+1].word
		v0, v1, v2, v3 := words(nibs)
		low[0], low[1], low[2], low[3] = v0&lowNibs, v1&lowNibs, v2&lowNibs, v3&lowNibs
		high[0], high[1], high[2], high[3] = v0>>4&lowNibs, v1>>4&lowNibs, v2>>4&lowNibs, v3>>4&lowNibs
	}
}

// unpackQ5K reads scales, 32 bytes of fifth bits (bit i is for part i) and nibbles
// like those of Q4_K.
func unpackQ5K(b *[176]byte, into *[spanBlocks]weights32) {
	setScales((*[16]byte)(b[:]), into)
	f0, f1, f2, f3 := words((*[32]byte)(b[16:]))
	for i := range 4 {
		nibs, low, high := (*[32]byte)(b[48+32*i:]), &into[2*i].word, &into[2*i+1].word
		v0, v1, v2, v3 := words(nibs)
		low[0], low[1] = v0&lowNibs|f0&each<<4, v1&lowNibs|f1&each<<4
		low[2], low[3] = v2&lowNibs|f2&each<<4, v3&lowNibs|f3&each<<4
		high[0], high[1] = v0>>4&lowNibs|f0>>1&each<<4, v1>>4&lowNibs|f1>>1&each<<4
		high[2], high[3] = v2>>4&lowNibs|f2>>1&each<<4, v3>>4&lowNibs|f3>>1&each<<4
		f0, f1, f2, f3 = f0>>2, f1>>2, f2>>2, f3>>2
	}
}

// unpackQ6K reads 128 bytes of nibbles, 64 of upper pairs of bits, 16 signed scales
// and a float16. Each half of them is 128 weights, four blocks: blocks 0 and 1 have the
// low nibbles, 2 and 3 the high ones; the pairs of block i are bits 2i and 2i+1.
func unpackQ6K(b *[210]byte, into *[spanBlocks]weights32) {
	const two = 3 * each
	scale := finiteHalf(binary.LittleEndian.Uint16(b[208:]))
	for i := range into {
		into[i].scale, into[i].other = scale*float32(int8(b[192+2*i])), scale*float32(int8(b[193+2*i]))
	}
	for h := range 2 {
		nibs, upper, w := (*[64]byte)(b[64*h:]), (*[32]byte)(b[128+32*h:]), (*[4]weights32)(into[4*h:])
		for k := range 4 {
			u, v := binary.LittleEndian.Uint64(nibs[8*k:]), binary.LittleEndian.Uint64(nibs[32+8*k:])
			pairs := binary.LittleEndian.Uint64(upper[8*k:])
			w[0].word[k] = u&lowNibs | pairs&two<<4
			w[1].word[k] = v&lowNibs | pairs>>2&two<<4
			w[2].word[k] = u>>4&lowNibs | pairs>>4&two<<4
			w[3].word[k] = v>>4&lowNibs | pairs>>6&two<<4
		}
	}
}

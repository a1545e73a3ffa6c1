package model

import "encoding/binary"

// Unpacked weights are bytes without sign. These are taken off again by the kernels.
const (
	bias8 = 128 // Q8_0 and Q4_0
	bias6 = 32  // Q6_K
)

// Every byte of a word.
const (
	each     = 0x0101010101010101
	lowNibs  = 0x0F * each
	flipSign = 0x80 * each
)

// unpackQ8 reads Q8_0 blocks: a float16 scale and 32 signed bytes.
func unpackQ8(data []byte, into []weights32) {
	for i := range into {
		w, b := &into[i], (*[34]byte)(data[34*i:])
		w.scale = finiteHalf(binary.LittleEndian.Uint16(b[:]))
		w.word[0] = binary.LittleEndian.Uint64(b[2:]) ^ flipSign // two's complement to plus 128
		w.word[1] = binary.LittleEndian.Uint64(b[10:]) ^ flipSign
		w.word[2] = binary.LittleEndian.Uint64(b[18:]) ^ flipSign
		w.word[3] = binary.LittleEndian.Uint64(b[26:]) ^ flipSign
	}
}

// unpackQ4 reads Q4_0 blocks: a float16 scale and 16 bytes, of which byte i holds
// weight i in its low nibble and weight i+16 in its high one, both plus 8.
func unpackQ4(data []byte, into []weights32) {
	const more = (bias8 - 8) * each
	for i := range into {
		w, b := &into[i], (*[18]byte)(data[18*i:])
		w.scale = finiteHalf(binary.LittleEndian.Uint16(b[:]))
		u, v := binary.LittleEndian.Uint64(b[2:]), binary.LittleEndian.Uint64(b[10:])
		w.word[0], w.word[1] = u&lowNibs+more, v&lowNibs+more
		w.word[2], w.word[3] = u>>4&lowNibs+more, v>>4&lowNibs+more
	}
}

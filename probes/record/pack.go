package record

import (
	"fmt"

	"github.com/klauspost/compress/zstd"
)

// minPack is the payload from which compressing is tried.
const minPack = 128

// packer compresses payloads.
type packer struct{ z *zstd.Encoder }

func newPacker() *packer {
	z, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithEncoderCRC(false),
		zstd.WithEncoderLevel(zstd.SpeedDefault), zstd.WithWindowSize(1<<20), zstd.WithSingleSegment(true))
	if err != nil {
		panic(err) // only for options that contradict each other
	}
	return &packer{z}
}

// pack returns b compressed, or as it is when that is not smaller, and the record's flags.
func (p *packer) pack(b []byte) ([]byte, uint8) {
	if len(b) >= minPack {
		if c := p.z.EncodeAll(b, nil); len(c) < len(b) {
			return c, flagZstd
		}
	}
	return b, 0
}

// unpacker decompresses payloads, never to more than maxRecord.
type unpacker struct{ z *zstd.Decoder }

func newUnpacker() *unpacker {
	z, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(maxRecord),
		zstd.WithDecoderMaxWindow(maxRecord), zstd.WithDecoderLowmem(true))
	if err != nil {
		panic(err) // only for options that contradict each other
	}
	return &unpacker{z}
}

// unpack returns the payload that pack was given.
func (u *unpacker) unpack(b []byte, flags uint8) ([]byte, error) {
	if flags&flagZstd == 0 {
		return b, nil
	}
	out, err := u.z.DecodeAll(b, nil)
	if err != nil {
		return nil, fmt.Errorf("decompressing: %w", err)
	}
	return out, nil
}

package record

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
)

// Limits of the format. A reader refuses what is beyond them, whatever a file says.
const (
	maxRecord    = 64 << 20 // bytes of a record's payload, and of what it decompresses to
	headerSize   = 12
	formatMajor  = 2
	formatMinor  = 0
	groupSize    = 64  // frames a group, as written
	firstGroup   = 8   // frames of the first group; the next have twice as many each: what columns are like is known soon
	maxGroupSize = 256 // frames a group, as read
)

// sync1 and sync2 begin every record; a scan that lost its way looks for them.
const (
	sync1 = 0xF3
	sync2 = 0x9D
)

// fileMagic is the payload of the first record up to the version numbers.
const fileMagic = "llmrec\r\n"

// recordType says what a payload is. Unknown types are skipped and counted.
type recordType uint8

const (
	typeHeader   recordType = 1 // magic and version; first in the file
	typeManifest recordType = 2
	typeLayout   recordType = 3 // fields of the sections, by name
	typeSchema   recordType = 4 // series identities of a page
	typeFrameV1  recordType = 5 // one sample, as version 1 wrote it
	typeBlob     recordType = 6 // a profile, verbatim
	typeFinding  recordType = 7
	typeMark     recordType = 8
	typeGap      recordType = 9
	typeIndex    recordType = 10
	typeEnd      recordType = 11 // last in a cleanly closed file: where the index is
	typeFrame    recordType = 12 // one sample
)

// isFrame reports whether a record is a sample, of whichever version.
func (k recordType) isFrame() bool { return k == typeFrame || k == typeFrameV1 }

// flagZstd marks a payload compressed with zstd (of a frame: what follows its
// prefix). Bits 4–7 change how a payload is read: a reader that does not know
// one of them skips the record. Bits 0–3 may be ignored.
const (
	flagZstd     = 1 << 4
	mustKnowMask = 0xF0
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// errTorn is a record that ends beyond what is there (yet).
var errTorn = errors.New("record goes beyond the end of the file")

// header is what precedes a payload.
type header struct {
	kind   recordType
	flags  uint8
	length int
	crc    uint32
}

// appendRecord appends a whole record to b.
func appendRecord(b []byte, kind recordType, flags uint8, payload []byte) []byte {
	start := len(b)
	b = append(b, sync1, sync2, byte(kind), flags)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(payload)))
	crc := crc32.Update(crc32.Checksum(b[start:], castagnoli), castagnoli, payload)
	b = binary.LittleEndian.AppendUint32(b, crc)
	return append(b, payload...)
}

// parseHeader reads the first headerSize bytes of b. It does not check the CRC.
func parseHeader(b []byte) (header, error) {
	if len(b) < headerSize {
		return header{}, errTorn
	}
	h := header{
		kind: recordType(b[2]), flags: b[3],
		crc: binary.LittleEndian.Uint32(b[8:]),
	}
	n := binary.LittleEndian.Uint32(b[4:])
	if b[0] != sync1 || b[1] != sync2 || n > maxRecord {
		return header{}, fmt.Errorf("no record begins here")
	}
	h.length = int(n)
	return h, nil
}

// checks reports whether the first bytes of a record (its header, then its
// payload) agree with the header's CRC.
func (h header) checks(head, payload []byte) bool {
	return crc32.Update(crc32.Checksum(head[:8], castagnoli), castagnoli, payload) == h.crc
}

// appendFileHeader appends the record that begins a recording of a version.
func appendFileHeader(b []byte, major byte) []byte {
	payload := append([]byte(fileMagic), major, formatMinor, 0, 0)
	return appendRecord(b, typeHeader, 0, payload)
}

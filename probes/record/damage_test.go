package record

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	"llmtop/probes"
)

func TestAnyPrefixIsARecording(t *testing.T) {
	const group = 16
	samples := newTiny().rich(group + 3)
	whole := recordedInGroups(t, samples, group)
	all := recordsOf(t, whole)
	for cut := 1; cut <= len(whole); cut++ {
		want, ends := 0, 0 // frames before the cut, and where the last record before it ends
		for _, r := range all {
			if r.next() > int64(cut) {
				break
			}
			if ends = int(r.next()); r.kind == typeFrame {
				want++
			}
		}
		r, err := newReader(memory(whole[:cut]), true)
		if err != nil {
			t.Fatalf("cut at %d: %v", cut, err)
		}
		if r.Len() != want {
			t.Fatalf("cut at %d: %d samples, want %d", cut, r.Len(), want)
		}
		if boundary := cut-ends <= 1 || cut == len(whole); boundary {
			got := read(t, r)
			if len(got) != want {
				t.Fatalf("cut at %d: read %d samples, want %d", cut, len(got), want)
			}
			if want > 0 {
				assertSame(t, got[want-1], samples[want-1])
			}
		}
		if i := r.Info(); i.Damaged != 0 || i.CleanClose != (cut == len(whole)) || i.Bytes != int64(cut) {
			t.Fatalf("cut at %d: %+v", cut, i)
		}
		r.Close()
	}
}

// assertAmong fails unless each sample is one of want, unchanged but for a profile
// whose bytes are lost, and at most lost are missing.
func assertAmong(t testing.TB, got, want []*probes.Sample, lost int) {
	t.Helper()
	if len(got) < len(want)-lost {
		t.Fatalf("%d samples of %d: more than %d lost", len(got), len(want), lost)
	}
	for _, s := range got {
		original := want[s.Seq-1]
		if s.Profile != nil && s.Profile.Raw == nil {
			c := *s
			c.Profile = original.Profile
			s = &c
		}
		assertSame(t, s, original)
	}
}

func TestAFlippedByteCostsAtMostAGroup(t *testing.T) {
	const group = 4
	samples := newTiny().rich(2*group + 2)
	whole := recordedInGroups(t, samples, group)
	all := recordsOf(t, whole)
	open := whole[:all[len(all)-2].offset] // without index: killed before Close
	for name, file := range map[string][]byte{"closed": whole, "killed": open} {
		t.Run(name, func(t *testing.T) {
			for i := 0; i < len(file); i++ {
				if name == "closed" && i < len(open) && i%4 != 0 {
					continue // read like the other, but for the index
				}
				flipped := bytes.Clone(file)
				flipped[i] ^= 1 << (i % 8)
				r, err := newReader(memory(flipped), true)
				if err != nil {
					t.Fatalf("byte %d: %v", i, err)
				}
				got := read(t, r)
				assertAmong(t, got, samples, group)
				if info := r.Info(); len(got) < len(samples) && info.Damaged == 0 && info.TailBytes == 0 {
					t.Fatalf("byte %d: %d samples lost and nobody says so", i, len(samples)-len(got))
				}
				r.Close()
			}
		})
	}
}

func TestVerifyFindsDamageThatTheIndexHides(t *testing.T) {
	samples := newSmall().rich(2 * groupSize)
	whole := recorded(t, samples)
	for _, r := range recordsOf(t, whole) {
		if r.kind == typeFrame {
			whole[r.next()-1] ^= 1
			break
		}
	}
	r, err := newReader(memory(whole), true)
	if err != nil {
		t.Fatal(err)
	}
	if i := r.Info(); i.Samples != 2*groupSize || i.Damaged != 0 {
		t.Errorf("by the index: %d samples, %d damaged", i.Samples, i.Damaged)
	}
	i, err := r.Verify(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if i.Samples != 2*groupSize-firstGroup || i.Damaged == 0 {
		t.Errorf("verified: %d samples, %d damaged; want %d samples and damage", i.Samples, i.Damaged, 2*groupSize-firstGroup)
	}
	if _, err := r.At(0); !errors.Is(err, ErrDamaged) {
		t.Errorf("At a damaged sample: %v", err)
	}
	if _, err := r.At(groupSize); err != nil {
		t.Errorf("At a sample behind it: %v", err)
	}
}

func TestGarbageIsToldFromRecordings(t *testing.T) {
	whole := recorded(t, newSmall().rich(20))
	newer := appendRecord(nil, typeHeader, 0, []byte(fileMagic+"\x03\x00\x00\x00"))
	tests := map[string]struct {
		data []byte
		want string
	}{
		"empty":       {nil, "empty"},
		"text":        {[]byte(strings.Repeat("not a recording\n", 5000)), "not a llmtop recording"},
		"zeros":       {make([]byte, 200_000), "not a llmtop recording"},
		"beginnings":  {bytes.Repeat([]byte{sync1, sync2, 5, 0, 0xff, 0, 0, 0}, 20_000), "not a llmtop recording"},
		"newer major": {newer, "newer than this llmtop reads"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := newReader(memory(tt.data), true)
			if err == nil || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("error %v, want one line with %q", err, tt.want)
			}
		})
	}
	t.Run("garbage after the end", func(t *testing.T) {
		r, err := newReader(memory(append(bytes.Clone(whole), bytes.Repeat([]byte{sync1, sync2, 1, 2}, 999)...)), true)
		if err != nil {
			t.Fatal(err)
		}
		if got := len(read(t, r)); got != 20 {
			t.Errorf("%d samples, want 20", got)
		}
		if i := r.Info(); i.TailBytes != 3996 || i.CleanClose {
			t.Errorf("tail %d bytes, clean %t", i.TailBytes, i.CleanClose)
		}
	})
}

func TestUnknownRecordsAndFlagsArePassedOver(t *testing.T) {
	whole := recorded(t, newSmall().rich(20))
	all := recordsOf(t, whole)
	var b []byte
	for _, r := range all[:len(all)-2] {
		b = append(b, whole[r.offset:r.next()]...)
		if r.kind == typeFrame {
			b = appendRecord(b, 40, 0, []byte("from the future"))
			b = appendRecord(b, typeMark, 1<<6, []byte("not JSON any more"))
		}
	}
	r, err := newReader(memory(b), true)
	if err != nil {
		t.Fatal(err)
	}
	if got := len(read(t, r)); got != 20 {
		t.Errorf("%d samples, want 20", got)
	}
	if i := r.Info(); i.Unknown != 40 || i.Damaged != 0 {
		t.Errorf("unknown %d, damaged %d; want 40, 0", i.Unknown, i.Damaged)
	}
}

func TestABombDoesNotGoOff(t *testing.T) {
	p := newPacker()
	bomb, flags := p.pack(make([]byte, maxRecord+1))
	if flags != flagZstd {
		t.Fatal("zeros did not compress")
	}
	if _, err := newUnpacker().unpack(bomb, flags); err == nil {
		t.Error("more than the limit was decompressed")
	}
	window := []byte{0x28, 0xb5, 0x2f, 0xfd, 0x00, 0xf8, 0x01, 0x00, 0x00} // a frame that wants a window of 2 TiB
	if _, err := newUnpacker().unpack(window, flagZstd); err == nil {
		t.Error("a window of 2 TiB was accepted")
	}
}

func FuzzReader(f *testing.F) {
	whole := recorded(f, newTiny().rich(groupSize+1))
	f.Add(whole)
	f.Add(whole[:len(whole)-30])
	f.Add(whole[:200])
	f.Add([]byte(fileMagic))
	f.Fuzz(func(t *testing.T, data []byte) {
		readAnything(t, data)
		readAnything(t, withRightCRCs(data))
	})
}

func readAnything(t *testing.T, data []byte) {
	r, err := newReader(memory(data), true)
	if err != nil {
		return
	}
	defer r.Close()
	for {
		if _, err := r.Next(context.Background()); err != nil {
			if err != io.EOF {
				t.Fatal(err)
			}
			break
		}
	}
	if i := r.Info(); i.Samples > len(data) {
		t.Fatalf("%d samples in %d bytes", i.Samples, len(data))
	}
	if _, err := r.Verify(context.Background()); err != nil {
		t.Fatal(err)
	}
}

// withRightCRCs is data with the CRC of whatever looks like a record made right, so
// that what is behind the CRC is tried too.
func withRightCRCs(data []byte) []byte {
	data = bytes.Clone(data)
	for i := 0; i+headerSize <= len(data); i++ {
		h, err := parseHeader(data[i:])
		if err != nil || h.length > len(data)-i-headerSize {
			continue
		}
		copy(data[i:], appendRecord(nil, h.kind, h.flags, data[i+headerSize:i+headerSize+h.length]))
		i += headerSize + h.length - 1
	}
	return data
}

// FuzzFrame reaches behind the CRC: any body must decode or be refused.
func FuzzFrame(f *testing.F) {
	samples := newSmall().rich(groupSize)
	file, root := newFrameFile(f)
	e := newEncoder(root, file)
	var last *probes.Sample
	for i, s := range samples {
		body, err := e.body(nil, s, last, i == 0)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(body)
		last = s
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		d := newDecoder(root, asRead{file})
		s := prefixOf(samples[0], 1).sample()
		if d.body(body, s, nil, nil) == nil {
			d.body(body, prefixOf(samples[1], 1).sample(), s, s)
		}
	})
}

// frameFile stands for the rest of a recording: schemas by id, as the registry gave them.
type frameFile struct {
	*registry
	pages map[int]*probes.Scrape
}

func newFrameFile(t failer) (*frameFile, *plan) {
	root, err := bind(ownLayout())
	if err != nil {
		t.Fatal(err)
	}
	return &frameFile{newRegistry(newPacker()), map[int]*probes.Scrape{}}, root
}

func (f *frameFile) schema(s *probes.Scrape) int {
	id := f.registry.schema(s)
	f.pages[id] = s
	return id
}

// asRead is the file from the decoder's side.
type asRead struct{ *frameFile }

func (a asRead) schema(id int) (*probes.Schema, string, bool) {
	s := a.pages[id]
	if s == nil {
		return nil, "", false
	}
	return s.Schema, s.Endpoint, true
}

func (a asRead) blob(id uint64) ([]byte, bool) { return []byte("profile"), id < 10 }

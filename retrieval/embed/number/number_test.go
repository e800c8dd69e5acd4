package number

import (
	"math"
	"testing"
)

// Every binary16 number against its definition: sign, exponent and fraction.
func TestHalf(t *testing.T) {
	for h := range 1 << 16 {
		sign, exp, frac := 1-2*float64(h>>15), h>>10&0x1f, float64(h&0x3ff)
		want := sign * math.Ldexp(1+frac/1024, exp-15)
		switch {
		case exp == 0:
			want = sign * math.Ldexp(frac, -24)
		case exp == 31 && frac == 0:
			want = math.Inf(int(sign))
		case exp == 31:
			want = math.NaN()
		}
		got := float64(Half(uint16(h)))
		if got != want && !(math.IsNaN(got) && math.IsNaN(want)) || math.Signbit(got) != (h>>15 == 1) {
			t.Fatalf("%#04x is %v, want %v", h, got, want)
		}
	}
}

func TestDecoders(t *testing.T) {
	for kind, c := range map[string]struct {
		raw  []byte
		want float32
	}{
		"F64":  {[]byte{0, 0, 0, 0, 0, 0, 0xf8, 0xbf}, -1.5},
		"F32":  {[]byte{0, 0, 0xc0, 0xbf}, -1.5},
		"F16":  {[]byte{0x00, 0xbe}, -1.5},
		"BF16": {[]byte{0xc0, 0xbf}, -1.5},
		"I8":   {[]byte{0x80}, -128},
		"U8":   {[]byte{0x80}, 128},
	} {
		width, decode := Decoder(kind)
		if width != len(c.raw) {
			t.Errorf("%s has %d bytes", kind, width)
			continue
		}
		out := make([]float32, 2)
		decode(out, append(make([]byte, width), c.raw...))
		if out[0] != 0 || out[1] != c.want {
			t.Errorf("%s: %v, want 0 and %v", kind, out, c.want)
		}
	}
	if width, decode := Decoder("F8"); width != 0 || decode != nil {
		t.Error("F8 is decoded")
	}
}

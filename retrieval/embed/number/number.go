// Package number converts the number formats in which model files store weights.
//
// Guarantees: conversion to float32 is exact where float32 has the value, and
// rounds F64 to the nearest. It reads no files and checks no lengths: that is
// the business of the formats' readers.
package number

import (
	"encoding/binary"
	"math"
)

// Decoder returns how many bytes a number of a kind has, and what converts
// len(out) of them, little-endian, from raw. The kinds are F64, F32, F16, BF16,
// I8 and U8, whose numbers keep their value; decode is nil for others.
func Decoder(kind string) (width int, decode func(out []float32, raw []byte)) {
	switch kind {
	case "F64":
		return 8, func(out []float32, raw []byte) {
			for i := range out {
				out[i] = float32(math.Float64frombits(binary.LittleEndian.Uint64(raw[8*i:])))
			}
		}
	case "F32":
		return 4, func(out []float32, raw []byte) {
			for i := range out {
				out[i] = math.Float32frombits(binary.LittleEndian.Uint32(raw[4*i:]))
			}
		}
	case "F16":
		return 2, func(out []float32, raw []byte) {
			for i := range out {
				out[i] = Half(binary.LittleEndian.Uint16(raw[2*i:]))
			}
		}
	case "BF16":
		return 2, func(out []float32, raw []byte) {
			for i := range out {
				out[i] = Brain(binary.LittleEndian.Uint16(raw[2*i:]))
			}
		}
	case "I8":
		return 1, func(out []float32, raw []byte) {
			for i := range out {
				out[i] = float32(int8(raw[i]))
			}
		}
	case "U8":
		return 1, func(out []float32, raw []byte) {
			for i := range out {
				out[i] = float32(raw[i])
			}
		}
	}
	return 0, nil
}

// Half converts an IEEE 754 binary16 number.
func Half(h uint16) float32 {
	sign, exp, frac := uint32(h>>15)<<31, uint32(h>>10)&0x1f, uint32(h)&0x3ff
	switch exp {
	case 0:
		v := float32(frac) / (1 << 24)
		return math.Float32frombits(math.Float32bits(v) | sign)
	case 0x1f:
		return math.Float32frombits(sign | 0xff<<23 | frac<<13)
	}
	return math.Float32frombits(sign | (exp+127-15)<<23 | frac<<13)
}

// Brain converts a bfloat16 number: the upper half of a float32.
func Brain(b uint16) float32 { return math.Float32frombits(uint32(b) << 16) }

// ToHalf is the IEEE 754 binary16 number nearest to v; of what is too large,
// infinity.
func ToHalf(v float32) uint16 {
	bits := math.Float32bits(v)
	sign, size := uint16(bits>>16)&0x8000, math.Abs(float64(v))
	switch {
	case size != size:
		return sign | 0x7e00
	case size >= 65520: // rounds to what is past the largest
		return sign | 0x7c00
	case size < 1.0/(1<<14): // subnormal: multiples of 2⁻²⁴
		return sign | uint16(math.RoundToEven(size*(1<<24)))
	}
	half := bits&^(1<<31) + 0xfff + bits>>13&1 // rounds to even
	return sign | uint16(half>>13-(127-15)<<10)
}

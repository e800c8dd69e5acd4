package static

// Parameters of the n-grams that stand in for a word the table does not hold.
// Persisted in the meaning of every table; never change.
const (
	gramLength = 4
	fnvOffset  = 2166136261 // FNV-1a, 32 bits
	fnvPrime   = 16777619
)

// AppendGrams appends the buckets, counted from 0, of a word's n-grams: every
// run of four bytes of "<word>", hashed. Shorter words have one n-gram, the
// whole. There must be at least one bucket.
func AppendGrams(buckets []int32, word []byte, n int) []int32 {
	var framed [maxWordBytes + 8]byte
	f := append(framed[:0], '<')
	f = append(append(f, word...), '>')
	last := max(len(f)-gramLength, 0)
	for i := 0; i <= last; i++ {
		buckets = append(buckets, bucket(f[i:min(i+gramLength, len(f))], n))
	}
	return buckets
}

func bucket(gram []byte, n int) int32 {
	h := uint32(fnvOffset)
	for _, b := range gram {
		h = (h ^ uint32(b)) * fnvPrime
	}
	// The low bits of FNV are weak for short input.
	h ^= h >> 15
	return int32(h % uint32(n))
}

// Package passkey says whether a passkey's signature approves what it is said to
// approve, from the public key alone (Web Authentication Level 2, sections 6.1,
// 7.1 and 7.2), and keeps which passkeys a person enrolled.
//
// It guarantees that a signature counts for one session, one gate and one
// fingerprint, of a person whom the authenticator verified, given to a page of the
// daemon's own origin, port included: the relying party's id knows no ports, so a
// page that an agent serves on another one gets valid signatures too. Keys and
// signatures are read by go-webauthn's webauthncose; its whole protocol would bring
// attestation formats, revocation and JWT into a program that trusts no
// attestation. It holds no nonce and reads no clock: who made a challenge, and that
// it is used once, is the caller's.
package passkey

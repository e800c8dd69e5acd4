package schemas

import "time"

// Subjects about passkeys; all are the admin's. Persisted; never change.
const (
	SvcPasskeys         = "writ.svc.passkey.list"      // {} → PasskeyList
	SvcPasskeyAdd       = "writ.svc.passkey.add"       // PasskeyAddRequest → DashReply, whose link enrols once
	SvcPasskeyEnrol     = "writ.svc.passkey.enrol"     // PasskeyEnrolRequest → PasskeyEnrolReply
	SvcPasskeyRemove    = "writ.svc.passkey.remove"    // PasskeyRemoveRequest → Passkey
	SvcPasskeyChallenge = "writ.svc.passkey.challenge" // PasskeyChallengeRequest → PasskeyChallenge
)

// Passkeys is the aggregate of a person's passkeys and of what was signed with
// them.
func Passkeys() Aggregate { return Aggregate{KindArtifact, "passkeys"} }

// PasskeyEnrolled records that a person enrolled a passkey for approvals, by a
// link that a terminal gave out.
type PasskeyEnrolled struct {
	CredentialID      string `json:"credential_id"` // base64url without padding, as WebAuthn has it
	Name              string `json:"name"`          // the person's, for lists
	PublicKey         []byte `json:"public_key"`    // COSE_Key
	AuthenticatorData []byte `json:"authenticator_data"`
	ClientData        []byte `json:"client_data"` // clientDataJSON as the browser made it
	RPID              string `json:"rp_id"`
	Origin            string `json:"origin"`   // the daemon's dashboard at that time
	Preimage          string `json:"preimage"` // of the challenge, which is its SHA-256
	Counter           uint64 `json:"counter"`  // of signatures; 0 where the authenticator counts none
}

// EventType names the event "passkey.enrolled".
func (PasskeyEnrolled) EventType() Type { return "passkey.enrolled" }

// Check requires credential and key.
func (p PasskeyEnrolled) Check() error {
	return require("credential_id", p.CredentialID, "public_key", string(p.PublicKey))
}

// PasskeyRemoved records that a passkey approves no more.
type PasskeyRemoved struct {
	CredentialID string `json:"credential_id"`
}

// EventType names the event "passkey.removed".
func (PasskeyRemoved) EventType() Type { return "passkey.removed" }

// Check requires the credential.
func (p PasskeyRemoved) Check() error { return require("credential_id", p.CredentialID) }

// PasskeyUsed records a signature by which a person approved, with all that is
// needed to verify it from the public key alone: the signature is over
// AuthenticatorData and the SHA-256 of ClientData, which has the SHA-256 of
// Preimage as its challenge, which names what is approved. The approval itself is
// gate.approved with the act "passkey:" and the nonce.
type PasskeyUsed struct {
	CredentialID      string `json:"credential_id"`
	Enrolment         string `json:"enrolment"`  // id of its passkey.enrolled
	PublicKey         []byte `json:"public_key"` // COSE_Key
	AuthenticatorData []byte `json:"authenticator_data"`
	ClientData        []byte `json:"client_data"`
	Signature         []byte `json:"signature"`
	RPID              string `json:"rp_id"`
	Origin            string `json:"origin"` // the daemon's dashboard at that time
	Nonce             string `json:"nonce"`  // used once
	Preimage          string `json:"preimage"`
	Session           string `json:"session"`
	Gate              string `json:"gate"`
	Fingerprint       string `json:"fingerprint"` // of what is approved
	Counter           uint64 `json:"counter"`
	// CounterWas is the higher counter of an earlier signature: the passkey may
	// have been copied. 0 where the counter did not fall.
	CounterWas uint64 `json:"counter_was,omitempty"`
}

// EventType names the event "passkey.used".
func (PasskeyUsed) EventType() Type { return "passkey.used" }

// Check requires what the signature and the approval are found by.
func (p PasskeyUsed) Check() error {
	return require("credential_id", p.CredentialID, "nonce", p.Nonce, "session", p.Session, "gate", p.Gate, "fingerprint", p.Fingerprint)
}

// Passkey is an enrolled passkey.
type Passkey struct {
	CredentialID string    `json:"credential_id"`
	Name         string    `json:"name"`
	Enrolled     time.Time `json:"enrolled"`
	Used         time.Time `json:"used,omitzero"` // last
	Uses         int       `json:"uses"`
	// CounterFell counts uses after which the passkey may have been copied.
	CounterFell int `json:"counter_fell,omitempty"`
}

// PasskeyList is all passkeys that approve, oldest first.
type PasskeyList struct {
	Passkeys []Passkey `json:"passkeys"`
}

// PasskeyAddRequest asks for a link that enrols a passkey once.
type PasskeyAddRequest struct {
	Name string `json:"name"`
}

// PasskeyEnrolRequest enrols a passkey with the code of a link: without Made it
// asks for the challenge.
type PasskeyEnrolRequest struct {
	Code string       `json:"code"`
	Made *PasskeyMade `json:"made,omitempty"`
}

// PasskeyEnrolReply is the challenge, or the passkey that was enrolled.
type PasskeyEnrolReply struct {
	Challenge *PasskeyChallenge `json:"challenge,omitempty"`
	Passkey   *Passkey          `json:"passkey,omitempty"`
}

// PasskeyMade is what a browser says of a passkey that it made.
type PasskeyMade struct {
	Nonce             string `json:"nonce"`
	ClientData        []byte `json:"client_data"`
	AuthenticatorData []byte `json:"authenticator_data"`
}

// PasskeyRemoveRequest names a passkey by its name or by the beginning of its
// credential id.
type PasskeyRemoveRequest struct {
	Passkey string `json:"passkey"`
}

// PasskeyChallengeRequest asks for a challenge to approve exactly this.
type PasskeyChallengeRequest struct {
	Session     string `json:"session"`
	Gate        string `json:"gate"`
	Fingerprint string `json:"fingerprint"`
}

// PasskeyChallenge is what a browser needs to ask a passkey, or to make one.
type PasskeyChallenge struct {
	Nonce       string   `json:"nonce"`
	Challenge   []byte   `json:"challenge"`
	RPID        string   `json:"rp_id"`
	Name        string   `json:"name,omitempty"` // of a passkey to be made
	Credentials []string `json:"credentials"`    // those that may answer, or need not be made again
}

// PasskeyAnswer is what a browser says of a passkey's signature.
type PasskeyAnswer struct {
	Nonce             string `json:"nonce"`
	CredentialID      string `json:"credential_id"`
	ClientData        []byte `json:"client_data"`
	AuthenticatorData []byte `json:"authenticator_data"`
	Signature         []byte `json:"signature"`
}

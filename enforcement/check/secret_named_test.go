package check

import (
	"strings"
	"testing"
)

func TestCredentials(t *testing.T) {
	jwt := "eyJhbGciOiJIUzI1NiJ9." + "eyJzdWIiOiI0MiIsIm4iOjd9." + "q3Jv0Xw9zTnL5rQbD8sKf2Yh"
	for _, c := range []struct{ text, want string }{
		{`password = "kx9-Trombone"`, "kx9-Trombone"},
		{`PASSWORD=kx9Trombone4`, "kx9Trombone4"},
		{`db_password: 'kx9Trombone'`, "kx9Trombone"},
		{`{"password": "kx9Trombone"}`, "kx9Trombone"},
		{`{\"password\":\"kx9Trombone\"}`, "kx9Trombone"},
		{`dbPassword := "kx9Trombone"`, "kx9Trombone"},
		{`:password => "kx9Trombone"`, "kx9Trombone"},
		{`api_key: 7f3kQz81mWv0Tb5x`, "7f3kQz81mWv0Tb5x"},
		{`"apiKey": "7f3kQz81mWv0Tb5x"`, "7f3kQz81mWv0Tb5x"},
		{`export SERVICE_TOKEN=7f3kQz81mWv0Tb5x`, "7f3kQz81mWv0Tb5x"},
		{`https://x.example/?access_token=7f3kQz81mWv0Tb5x&a=1`, "7f3kQz81mWv0Tb5x"},
		{`Authorization: Bearer 7f3kQz81mWv0Tb5x`, "7f3kQz81mWv0Tb5x"},
		{`curl -H "authorization: bearer 7f3kQz81mWv0Tb5x"`, "7f3kQz81mWv0Tb5x"},
		{`Authorization: Basic YWRtaW46a3g5VHJvbWJvbmU=`, "YWRtaW46a3g5VHJvbWJvbmU="},
		{"push with ghp_" + "a8Fk2LmQ9xRt5Vw1Yz3Bc6De0Gh4Jn2xkgXN now", "ghp_" + "a8Fk2LmQ9xRt5Vw1Yz3Bc6De0Gh4Jn2xkgXN"},
		{"see " + jwt + ".", jwt},
		{"Bearer " + jwt, jwt + " " + jwt},
		// No secrets.
		{`password = os.environ["DB_PASSWORD1"]`, ""},
		{`password = os.getenv("DB_PASSWORD1")`, ""},
		{`password = config.database.password1`, ""},
		{`password: ${DB_PASSWORD_1}`, ""},
		{`password: {{ vault_password_1 }}`, ""},
		{`password = "<your password 1>"`, ""},
		{`password = "changeme"`, ""},
		{`password = "password123"`, ""},
		{`password: string`, ""},
		{`password="example-4711"`, ""},
		{`token = self.next_token2(text)`, ""},
		{`token: 0198c0de-0000-7000-8000-0000000a1f7b`, ""},
		{`max_tokens: 128000abc4711`, ""},
		{`"tokens":[{"id":"a1b2c3d4e5f6"}]`, ""},
		{`sha256: 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08`, ""},
		{`integrity: sha512-z4PhNX7vuL3xVChQ1m2AB9Yg5AULVxXcg/SpIdNs6c5H0NE8XYXysP==`, ""},
		{`secret_path = "/etc/keys/4711"`, ""},
		{`token_url: https://login.example/4711`, ""},
		{`the token: it is 12 characters long`, ""},
		{`Bearer tokens expire after 3600 seconds`, ""},
		{`Bearer authentication-middleware`, ""},
		{`Basic authentication7 is not enough4711`, ""},
		{`passwordless = "kx9Trombone"`, ""},
		{`password = "[redacted:password]"`, ""},
		{`Authorization: Bearer [redacted:bearer-token]`, ""},
		{"password =", ""},
		{"=", ""},
	} {
		var found []string
		for _, p := range Credentials([]byte(c.text)) {
			found = append(found, c.text[p.Start:p.End])
		}
		if got := strings.Join(found, " "); got != c.want {
			t.Errorf("%s\n\tholds %q, want %q", c.text, got, c.want)
		}
	}
}

func FuzzCredentials(f *testing.F) {
	f.Add(`password = "kx9-Trombone"`)
	f.Add(`authorization: Basic YWRtaW46a3g5VHJvbWJvbmU= eyJ.eyJ.`)
	f.Fuzz(func(t *testing.T, text string) {
		for _, p := range Credentials([]byte(text)) {
			if p.Start < 0 || p.Start >= p.End || p.End > len(text) || p.Kind == "" {
				t.Fatalf("%q: %+v", text, p)
			}
		}
	})
}

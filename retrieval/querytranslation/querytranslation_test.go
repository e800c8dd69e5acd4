package querytranslation

import (
	"slices"
	"strings"
	"testing"
)

func TestEnglishOfOtherLanguages(t *testing.T) {
	for text, want := range map[string]string{
		"die Abfrage der Bestellungen ist zu langsam":                   "the query the order is too slow",
		"die Fehlermeldung wird nicht angezeigt":                        "the error message be not show", // a phrase in one word
		"der Kundenname steht auf der Rechnung":                         "the customer name steht on the invoice",
		"le mot de passe est enregistré en clair dans la base":          "the password is save plain text in the database",
		"l'utilisateur n'est pas dans la liste d'attente":               "the user not is not in the list of wait",
		"la contraseña se guarda en texto plano":                        "the password se save in plain text",
		"concatenamos la entrada del usuario en la consulta":            "concatenate the input of user in the query",
		"das Passwort der Datenbank steht im Quelltext":                 "the password the database steht in source code",
		"los tests dependen unos de otros":                              "the test depend each other",
		"der useEffect in src/App.tsx ist in einer Endlosschleife":      "the useEffect in src/App.tsx is in a forever loop",
		"每次查询都把 orders 表读到内存里":                                          "each query  orders table read memory in",
		"消息处理之前就确认了偏移量":                                                 "message handle before confirm offset", // no word that every text has
		"ボタンをクリックすると注文が重複する":                                            "button click and order duplicate",
		"die Tabelle user_events und die Klasse OrderService in api.go": "the table user_events and the class OrderService in api.go",
	} {
		if got := English(text, nothing); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func TestTextsThatStay(t *testing.T) {
	for _, text := range []string{
		"", "ok", "fix the bug in the table of orders", "the process should die when the parent is gone", "danke!",
		"give me a joke about a teacher", "pour the config into the container", "no, the other one", "add es and la to the list of languages",
		"no, no, and plot x, y, width, y", "SELECT * FROM users WHERE id IN (1, 2)", "\xff\xfe", "  two  spaces  ",
		"표를 읽어 줘", "таблица заказов", "the column 備考 is empty", "表",
	} {
		if got := English(text, rules); got != text {
			t.Errorf("%q became %q", text, got)
		}
	}
}

// rules hold some English words that stand in the table, too.
func rules(word string) bool { return slices.Contains([]string{"config", "no", "y"}, word) }

// Somebody's own rules in German are found by German words.
func TestTextOfKnownWordsStays(t *testing.T) {
	text := "die Abfrage der Bestellungen ist zu langsam"
	known := func(word string) bool { return strings.Contains("Abfrage Bestellungen langsam zu", word) }
	if got := English(text, known); got != text {
		t.Errorf("%q became %q", text, got)
	}
}

// An entry that another one hides, or that folding would change, never matches.
func TestEntriesOfTheTable(t *testing.T) {
	for i, l := range languages()[1:] {
		if len(l.words) < 400 || len(l.telling) < 20 && i < 3 { // characters tell the last
			t.Errorf("language %d has %d words, %d telling", i, len(l.words), len(l.telling))
		}
		for word := range l.words {
			for part := range strings.SplitSeq(word, "_") {
				if len(part) > longestEntry {
					t.Errorf("%q has more than %d letters", part, longestEntry)
				}
				if fold(part) != part {
					t.Errorf("%q is not folded", word)
				}
			}
			if strings.Count(word, "_") >= longestPhrase {
				t.Errorf("%q has more than %d words", word, longestPhrase)
			}
		}
	}
}

// A word that can be cut in more ways than anybody could try costs no more than
// another: "felder" is an entry, and so is "feld", which "er" may follow.
func TestAWordOfManyPartsEnds(t *testing.T) {
	word := strings.Repeat("felder", 60) + "qqqqq"
	if got := English("die Abfrage der "+word, nothing); got != "the query the "+word {
		t.Errorf("%q", got)
	}
}

func nothing(string) bool { return false }

func FuzzEnglish(f *testing.F) {
	f.Add("die Abfrage der Bestellungen ist zu langsam")
	f.Add("l'utilisateur n'est pas \xff dans la liste")
	f.Fuzz(func(t *testing.T, text string) { English(text, nothing) })
}

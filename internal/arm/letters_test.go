package arm_test

import (
	"testing"
	"unicode"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
)

// TestAmbiguousLetters parses IDs with a letter of every script. Azure reads a letter as it is written, so the test expects a refusal of
// those that Go takes for other letters and Azure does not.
func TestAmbiguousLetters(t *testing.T) {
	plain := map[rune]bool{'k': true, 'K': true, 'ö': true, 'Ö': true, 'ß': true, 'σ': true, 'ς': true, 'я': true, '漢': true}
	ambiguous := map[rune]bool{'\u212A': true, '\u017F': true, '\u1E9E': true, '\u212B': true, '\u0130': true, '\u0131': true}
	id := func(letter rune) arm.ID { return arm.ResourceGroupID("s", "a"+string(letter)) }
	for letter := rune('a'); letter <= unicode.MaxRune; letter++ {
		_, isPlain := arm.ParsePlainID(string(id(letter)))
		if !unicode.IsLetter(letter) {
			continue
		}
		if plain[letter] && !isPlain || ambiguous[letter] && isPlain {
			t.Errorf("%c: Azure reads it as it is written: %t", letter, isPlain)
		}
		for folded := unicode.SimpleFold(letter); isPlain && folded != letter; folded = unicode.SimpleFold(folded) {
			if _, also := arm.ParsePlainID(string(id(folded))); also && id(folded).Key() == id(letter).Key() &&
				unicode.ToUpper(folded) != unicode.ToUpper(letter) {
				t.Errorf("%c and %c have one key and are two letters", letter, folded)
			}
		}
	}
}

package arm

import "unicode"

// findAmbiguousLetter returns the position of the first letter that becomes another letter when its case is changed and changed back, or an
// ASCII letter, -1 if there is none. The Kelvin sign, for example, has the lower case "k". Go ignores case by such rules and Azure
// does not, so that two resource groups of Azure would have one key here. That Azure compares by the upper case of each letter, as .NET
// does for ordinal comparisons, is an assumption.
// https://learn.microsoft.com/en-us/dotnet/api/system.stringcomparison (OrdinalIgnoreCase)
func findAmbiguousLetter(text string) int {
	for at, letter := range text {
		if letter <= unicode.MaxASCII {
			continue
		}
		lower, upper := unicode.ToLower(letter), unicode.ToUpper(letter)
		if lower <= unicode.MaxASCII || upper <= unicode.MaxASCII || unicode.ToUpper(lower) != upper {
			return at
		}
	}
	return -1
}

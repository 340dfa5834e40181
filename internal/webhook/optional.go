package webhook

// isTrue returns true if an optional boolean is set and true.
func isTrue(b *bool) bool { return b != nil && *b }

// isSet returns true if an optional text is set and not empty.
func isSet(s *string) bool { return s != nil && *s != "" }

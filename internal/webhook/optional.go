package webhook

// isTrue tells whether an optional switch is on.
func isTrue(b *bool) bool { return b != nil && *b }

// isSet tells whether an optional text is there.
func isSet(s *string) bool { return s != nil && *s != "" }

package schema

// StripUnsettable returns the part of a value that a request may set: without read-only, unknown and empty values. It returns nil if nothing
// is left.
func (p Part) StripUnsettable(value any) any {
	switch value := value.(type) {
	case map[string]any:
		out := map[string]any{}
		for key, inner := range value {
			child := p.Values()
			if p.IsObject() {
				_, property, ok := p.Property(key, value)
				if !ok || property.Shape().HasFlag(ReadOnly) {
					continue
				}
				child = property
			}
			if kept := child.StripUnsettable(inner); kept != nil {
				out[key] = kept
			}
		}
		if len(out) == 0 && p.Shape().Type != "map" {
			return nil
		}
		return out
	case []any:
		var out []any
		for _, item := range value {
			if kept := p.Items().StripUnsettable(item); kept != nil {
				out = append(out, kept)
			}
		}
		if len(out) == 0 {
			return nil
		}
		return out
	case string:
		if value == "" {
			return nil
		}
	}
	return value
}

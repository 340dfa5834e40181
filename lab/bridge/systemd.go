package bridge

import (
	"path"
	"slices"
	"strings"
)

// systemdUnit is a unit of an Ignition config.
type systemdUnit struct {
	Name string `json:"name"`
	// Enable is the old name of Enabled.
	Enable   bool            `json:"enable"`
	Enabled  *bool           `json:"enabled"`
	Mask     bool            `json:"mask"`
	Contents string          `json:"contents"`
	Dropins  []systemdDropin `json:"dropins"`
}

type systemdDropin struct {
	Name     string `json:"name"`
	Contents string `json:"contents"`
}

// mergeUnits merges units with the same name: Cluster API adds a user's settings for a unit as another unit of that
// name.
func mergeUnits(units []systemdUnit) []systemdUnit {
	var merged []systemdUnit
	for _, u := range units {
		i := slices.IndexFunc(merged, func(m systemdUnit) bool { return m.Name == u.Name })
		if i < 0 {
			merged = append(merged, u)
			continue
		}
		m := &merged[i]
		m.Enable, m.Mask = m.Enable || u.Enable, m.Mask || u.Mask
		if u.Enabled != nil {
			m.Enabled = u.Enabled
		}
		m.Contents = firstNonEmpty(u.Contents, m.Contents)
		m.Dropins = slices.Concat(m.Dropins, u.Dropins)
	}
	return merged
}

// startsAtBoot reports whether the unit is a service of this config that starts with the machine. The lab does not know
// the units of the image.
func (u systemdUnit) startsAtBoot() bool {
	enabled := u.Enable
	if u.Enabled != nil {
		enabled = *u.Enabled
	}
	return strings.HasSuffix(u.Name, ".service") && enabled && !u.Mask && len(u.valuesOf("Install", "WantedBy", "RequiredBy")) > 0
}

// listCommands returns the commands of the service, in order.
func (u systemdUnit) listCommands() []string {
	return slices.Concat(u.valuesOf("Service", "ExecStartPre"), u.valuesOf("Service", "ExecStart"), u.valuesOf("Service", "ExecStartPost"))
}

// valuesOf returns the values of keys of a section, in the unit and its drop-ins. An empty value clears those before
// it.
func (u systemdUnit) valuesOf(section string, keys ...string) []string {
	sources := []string{u.Contents}
	dropins := slices.Clone(u.Dropins)
	slices.SortStableFunc(dropins, func(a, b systemdDropin) int { return strings.Compare(a.Name, b.Name) })
	for _, d := range dropins {
		sources = append(sources, d.Contents)
	}
	var found []string
	for _, source := range sources {
		here := ""
		for line := range strings.Lines(strings.ReplaceAll(source, "\\\n", " ")) {
			line = strings.TrimSpace(line)
			if strings.HasPrefix(line, "[") {
				here = strings.Trim(line, "[]")
				continue
			}
			key, value, ok := strings.Cut(line, "=")
			if !ok || here != section || !slices.Contains(keys, strings.TrimSpace(key)) {
				continue
			}
			if value = strings.TrimSpace(value); value == "" {
				found = nil
				continue
			}
			found = append(found, value)
		}
	}
	return found
}

// expandScript replaces a command that runs a script among the files by the lines of the script, if the lab knows them.
func (s *bootScript) expandScript(command string) ([]string, error) {
	// Characters before the path control how systemd treats the outcome.
	words := strings.Fields(strings.TrimLeft(command, "@-:+!"))
	for i, word := range words {
		file, ok := s.Files[word]
		switch shell := path.Base(word); {
		case ok:
			content, err := file.readContent()
			text := strings.ReplaceAll(string(content), "\\\n", " ")
			var lines []string
			for line := range strings.Lines(text) {
				if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
					lines = append(lines, line)
				}
			}
			return lines, err
		case i > 0 && strings.HasPrefix(word, "-"), shell == "bash", shell == "sh", shell == "env":
		default:
			return []string{strings.Join(words, " ")}, nil
		}
	}
	return []string{strings.Join(words, " ")}, nil
}

package bridge

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
)

// applyEdits changes files of the bootstrap data like the commands before kubeadm. Ignition has no templates: there
// `sed -i s/OLD/NEW/` puts the node's name into kubeadm's configuration. No command is run: a change that the lab
// cannot compute makes the content of the file unknown.
func (s *bootScript) applyEdits(g guest) {
	for _, command := range s.Commands {
		if kubeadmCommand.MatchString(command) {
			return
		}
		words, unknown := shellWords(command, func(substitution string) (string, error) { return substituteShell(substitution, g) })
		words = slices.DeleteFunc(words, func(w string) bool { return w == "sudo" })
		if len(words) < 3 || path.Base(words[0]) != "sed" || !inPlace.MatchString(words[1]) {
			continue
		}
		for _, name := range words[2:] {
			file, ok := s.Files[name]
			if !ok || file.Unknown != nil {
				continue
			}
			err := unknown
			if err == nil && words[len(words)-1] != name {
				err = fmt.Errorf("of more than one file or expression")
			}
			if err == nil && words[1] != "-i" && words[1] != "--in-place" {
				err = fmt.Errorf("with %s", words[1])
			}
			if err == nil {
				file.Content, err = replaceText(file.Content, words[2])
			}
			if err != nil {
				file.Unknown = fmt.Errorf("a command changes it with sed: %w", err)
			}
			s.Files[name] = file
		}
	}
}

var inPlace = regexp.MustCompile(`^(-[A-Za-z]*i\S*|--in-place\S*)$`)

// replaceText is sed's s command for plain text.
func replaceText(content []byte, expression string) ([]byte, error) {
	const known = "the lab knows s/OLD/NEW/ and s/OLD/NEW/g with plain text"
	if len(expression) < 2 || expression[0] != 's' {
		return nil, fmt.Errorf("%s", known)
	}
	parts := strings.Split(expression[2:], expression[1:2])
	if len(parts) != 3 || parts[0] == "" || strings.ContainsAny(parts[0], `\.[*^$`) || strings.ContainsAny(parts[1], `\&`) {
		return nil, fmt.Errorf("%s", known)
	}
	switch parts[2] {
	case "g":
		return []byte(strings.ReplaceAll(string(content), parts[0], parts[1])), nil
	case "":
		var out strings.Builder
		for line := range strings.Lines(string(content)) {
			out.WriteString(strings.Replace(line, parts[0], parts[1], 1))
		}
		return []byte(out.String()), nil
	}
	return nil, fmt.Errorf("%s", known)
}

// shellWords splits a simple command into words as a shell does, with quotes removed and $(...), ${NAME} and $NAME replaced.
// The first thing that has no known value is the error; it is written all the same.
func shellWords(command string, value func(substitution string) (string, error)) ([]string, error) {
	var words []string
	var word strings.Builder
	var unknown error
	var quote byte
	inside := false
	for i := 0; i < len(command); i++ {
		switch c := command[i]; {
		case quote == '\'' && c != '\'':
			word.WriteByte(c)
		case quote != 0 && c == quote:
			quote = 0
		case quote == 0 && (c == '\'' || c == '"'):
			quote, inside = c, true
		case c == '\\' && i+1 < len(command):
			i++
			if quote == '"' && !strings.ContainsRune("\"\\$`", rune(command[i])) {
				word.WriteByte(c)
			}
			word.WriteByte(command[i])
			inside = true
		case c == '$':
			substitution, length := substitutionAt(command[i:])
			if length == 0 {
				word.WriteByte(c)
				inside = true
				break
			}
			text, err := value(substitution)
			if err != nil && unknown == nil {
				unknown = err
			}
			word.WriteString(text)
			i += length - 1
			inside = true
		case quote == 0 && (c == ' ' || c == '\t'):
			if inside {
				words = append(words, word.String())
			}
			word.Reset()
			inside = false
		default:
			word.WriteByte(c)
			inside = true
		}
	}
	if inside {
		words = append(words, word.String())
	}
	return words, unknown
}

var variablePattern = regexp.MustCompile(`^\$(?:\{([A-Za-z_][A-Za-z0-9_]*)\}|([A-Za-z_][A-Za-z0-9_]*))`)

// substitutionAt returns the substitution at the beginning of text, without the mark of a variable but with that of a command,
// and its length; 0 when there is none.
func substitutionAt(text string) (substitution string, length int) {
	if m := variablePattern.FindStringSubmatch(text); m != nil {
		return m[1] + m[2], len(m[0])
	}
	if !strings.HasPrefix(text, "$(") {
		return "", 0
	}
	depth, quote := 0, byte(0)
	for i := 1; i < len(text); i++ {
		switch c := text[i]; {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '\'' || c == '"':
			quote = c
		case c == '(':
			depth++
		case c == ')':
			if depth--; depth == 0 {
				return text[:i+1], i + 1
			}
		}
	}
	return "", 0
}

// substituteShell returns the text that a machine's shell would insert: the host's name, or an answer of the instance
// metadata service. https://learn.microsoft.com/en-us/azure/virtual-machines/instance-metadata-service
func substituteShell(substitution string, g guest) (string, error) {
	command, ok := strings.CutPrefix(substitution, "$(")
	if !ok {
		if substitution == "HOSTNAME" {
			return g.ComputerName, nil
		}
		return "", fmt.Errorf("the lab does not know the variable %s", substitution)
	}
	command = strings.TrimSpace(strings.TrimSuffix(command, ")"))
	switch command {
	case "hostname", "hostname -s", "uname -n", "cat /etc/hostname", "hostnamectl hostname":
		return g.ComputerName, nil
	}
	request, filter, filtered := strings.Cut(command, "|")
	words, err := shellWords(request, func(s string) (string, error) { return "", fmt.Errorf("the lab does not know $%s in it", s) })
	if err != nil {
		return "", err
	}
	i := slices.IndexFunc(words, func(w string) bool { return strings.HasPrefix(w, metadataService) })
	if i < 0 || words[0] != "curl" {
		// Nothing but the program: arguments can be secrets.
		program, _, _ := strings.Cut(command, " ")
		return "", fmt.Errorf("the lab does not know what %s prints: it knows hostname, and curl of %s", program, metadataService)
	}
	field, query, _ := strings.Cut(strings.TrimPrefix(words[i], metadataService), "?")
	header := slices.ContainsFunc(words, func(w string) bool {
		return strings.EqualFold(strings.ReplaceAll(strings.TrimPrefix(w, "-H"), " ", ""), "Metadata:true")
	})
	switch {
	case !header:
		return "", fmt.Errorf("the metadata service refuses a request without the header Metadata:true")
	case !strings.Contains(query, "api-version="):
		return "", fmt.Errorf("the metadata service refuses a request without api-version")
	case !filtered && !strings.Contains(query, "format=text"):
		return "", fmt.Errorf("the metadata service gives single values only with format=text")
	}
	field = strings.ReplaceAll(strings.Trim(field, "/"), "/", ".")
	if filtered {
		filters := strings.Fields(filter)
		if len(filters) != 3 || filters[0] != "jq" || !slices.Contains([]string{"-r", "-er", "-re", "--raw-output"}, filters[1]) {
			return "", fmt.Errorf("the lab knows jq -r .FIELD after a request to the metadata service")
		}
		field = strings.Trim(field+"."+strings.Trim(filters[2], `'".`), ".")
	}
	answer, ok := metadataAnswers(g)[field]
	if !ok {
		return "", fmt.Errorf("the lab's metadata service has no %s", firstNonEmpty(field, "single value"))
	}
	return answer, nil
}

const metadataService = "http://169.254.169.254/metadata/instance"

func metadataAnswers(g guest) map[string]string {
	return map[string]string{
		"compute.name":                   path.Base(g.VMID),
		"compute.osProfile.computerName": g.ComputerName,
		"compute.location":               g.Location,
		"compute.zone":                   g.Zone,
		"compute.vmId":                   g.InstanceID,
		"compute.resourceId":             g.VMID,
		"compute.resourceGroupName":      g.ResourceGroup,
		"compute.subscriptionId":         g.SubscriptionID,
	}
}

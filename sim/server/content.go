package server

import (
	"bytes"
	"strings"
)

// strictJSON converts the dialect of JSON that Resource Manager reads in deployments to JSON: names without quotes,
// comments, texts in single quotes or over several lines, and commas before the end of a list. The Azure CLI inserts
// the file of --template-file as it is, with the key "template" unquoted, and Resource Manager accepts that:
// https://github.com/Azure/azure-cli/issues/32357. Templates may have comments and texts over several lines:
// https://learn.microsoft.com/azure/azure-resource-manager/templates/syntax#comments-and-metadata Input that is not
// in this dialect is left to the decoder.
func strictJSON(raw []byte) []byte {
	r := lenient{in: raw}
	for r.at < len(r.in) {
		r.copyNext()
	}
	return r.out.Bytes()
}

type lenient struct {
	in  []byte
	at  int
	out bytes.Buffer
}

func (r *lenient) copyNext() {
	c := r.in[r.at]
	switch {
	case c == '"' || c == '\'':
		r.copyText(c)
	case bytes.HasPrefix(r.in[r.at:], []byte("//")):
		r.skipComment("\n")
	case bytes.HasPrefix(r.in[r.at:], []byte("/*")):
		r.skipComment("*/")
	case c == ',' && r.isClosing(r.at+1):
		r.at++
	case nameByte(c):
		r.copyWord()
	default:
		r.out.WriteByte(c)
		r.at++
	}
}

// skipComment leaves out a comment up to its end.
func (r *lenient) skipComment(end string) {
	i := bytes.Index(r.in[r.at+2:], []byte(end))
	if i < 0 {
		r.at = len(r.in)
		return
	}
	r.at += 2 + i + len(end)
	r.out.WriteByte(' ')
}

// copyText copies a text in double quotes.
func (r *lenient) copyText(quote byte) {
	r.out.WriteByte('"')
	for r.at++; r.at < len(r.in); r.at++ {
		switch c := r.in[r.at]; {
		case c == quote:
			r.at++
			r.out.WriteByte('"')
			return
		case c == '\\' && r.at+1 < len(r.in):
			if r.at++; r.in[r.at] != '\'' {
				r.out.WriteByte(c)
			}
			r.out.WriteByte(r.in[r.at])
		case c == '"':
			r.out.WriteString(`\"`)
		case c == '\n':
			r.out.WriteString(`\n`)
		case c == '\r':
			r.out.WriteString(`\r`)
		case c == '\t':
			r.out.WriteString(`\t`)
		default:
			r.out.WriteByte(c)
		}
	}
}

// copyWord copies a number, true, false or null as it is, and quotes the name of a property.
func (r *lenient) copyWord() {
	begin := r.at
	for r.at < len(r.in) && (nameByte(r.in[r.at]) || strings.IndexByte("+-.", r.in[r.at]) >= 0) {
		r.at++
	}
	word := r.in[begin:r.at]
	if i := r.skipBlanks(r.at); i < len(r.in) && r.in[i] == ':' {
		r.out.WriteByte('"')
		r.out.Write(word)
		r.out.WriteByte('"')
		return
	}
	r.out.Write(word)
}

// isClosing reports whether the next token is the end of an object or list.
func (r *lenient) isClosing(at int) bool {
	i := r.skipBlanks(at)
	return i < len(r.in) && (r.in[i] == '}' || r.in[i] == ']')
}

// skipBlanks returns the place of the next thing that is neither blank nor a comment.
func (r *lenient) skipBlanks(at int) int {
	for at < len(r.in) {
		rest := r.in[at:]
		end := ""
		switch {
		case strings.IndexByte(" \t\r\n", rest[0]) >= 0:
			at++
			continue
		case bytes.HasPrefix(rest, []byte("//")):
			end = "\n"
		case bytes.HasPrefix(rest, []byte("/*")):
			end = "*/"
		default:
			return at
		}
		i := bytes.Index(rest[2:], []byte(end))
		if i < 0 {
			return len(r.in)
		}
		at += 2 + i + len(end)
	}
	return at
}

func nameByte(c byte) bool {
	return c == '_' || c == '$' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

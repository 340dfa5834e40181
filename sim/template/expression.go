package template

import (
	"strconv"
	"strings"
)

// expression is a parsed "[...]". It is a literal, a call, or a property or element of another expression.
type expression struct {
	literal any
	call    string // name of a function
	args    []*expression

	of    *expression
	name  string      // .name
	index *expression // [index]
}

// isExpression reports whether a string of a template is an expression. "[[" is an escaped bracket and no expression.
func isExpression(s string) bool {
	return len(s) > 1 && s[0] == '[' && s[len(s)-1] == ']' && !strings.HasPrefix(s, "[[")
}

// parser reads one expression.
type parser struct {
	text string
	at   int
}

func parseExpression(text string) (*expression, error) {
	p := &parser{text: text[1 : len(text)-1]}
	e, err := p.readExpression()
	if err != nil {
		return nil, err
	}
	if p.peekCharacter() != 0 {
		return nil, p.unexpectedCharacter("EndOfData")
	}
	return e, nil
}

// tokens are Azure's names of the characters of its language.
var tokens = map[byte]string{0: "EndOfData", '(': "LeftParenthesis", ')': "RightParenthesis", '[': "LeftSquareBracket",
	']': "RightSquareBracket", ',': "Comma", '.': "Dot", '\'': "Literal"}

func (p *parser) unexpectedCharacter(want string) error {
	got := tokens[p.peekCharacter()]
	if got == "" {
		got = "Identifier"
	}
	return newRefusal("Unable to parse language expression '%s': expected token '%s' and actual '%s'.", p.text, want, got)
}

// peekCharacter returns the next character behind blanks, 0 at the end.
func (p *parser) peekCharacter() byte {
	for p.at < len(p.text) && strings.IndexByte(" \t\r\n", p.text[p.at]) >= 0 {
		p.at++
	}
	if p.at == len(p.text) {
		return 0
	}
	return p.text[p.at]
}

func (p *parser) takeCharacter(c byte) bool {
	if p.peekCharacter() != c {
		return false
	}
	p.at++
	return true
}

func (p *parser) readExpression() (*expression, error) {
	e, err := p.readPrimary()
	if err != nil {
		return nil, err
	}
	for {
		switch {
		case p.takeCharacter('.'):
			name := p.readWord()
			if name == "" {
				return nil, p.unexpectedCharacter("Identifier")
			}
			e = &expression{of: e, name: name}
		case p.takeCharacter('['):
			index, err := p.readExpression()
			if err != nil {
				return nil, err
			}
			if !p.takeCharacter(']') {
				return nil, p.unexpectedCharacter("RightSquareBracket")
			}
			e = &expression{of: e, index: index}
		default:
			return e, nil
		}
	}
}

func (p *parser) readPrimary() (*expression, error) {
	switch c := p.peekCharacter(); {
	case c == '\'':
		return p.readQuoted()
	case c == '-' || c >= '0' && c <= '9':
		from := p.at
		p.at++
		for p.at < len(p.text) && p.text[p.at] >= '0' && p.text[p.at] <= '9' {
			p.at++
		}
		n, err := strconv.ParseInt(p.text[from:p.at], 10, 64)
		if err != nil {
			return nil, p.unexpectedCharacter("Integer")
		}
		return &expression{literal: float64(n)}, nil
	}
	name := p.readWord()
	if name == "" {
		return nil, p.unexpectedCharacter("Identifier")
	}
	if !p.takeCharacter('(') {
		return nil, p.unexpectedCharacter("LeftParenthesis")
	}
	e := &expression{call: name}
	if p.takeCharacter(')') {
		return e, nil
	}
	for {
		arg, err := p.readExpression()
		if err != nil {
			return nil, err
		}
		e.args = append(e.args, arg)
		switch {
		case p.takeCharacter(')'):
			return e, nil
		case !p.takeCharacter(','):
			return nil, p.unexpectedCharacter("RightParenthesis")
		}
	}
}

// readQuoted reads a string; a quote in it is doubled.
func (p *parser) readQuoted() (*expression, error) {
	var b strings.Builder
	for p.at++; p.at < len(p.text); p.at++ {
		if p.text[p.at] != '\'' {
			b.WriteByte(p.text[p.at])
			continue
		}
		p.at++
		if p.at == len(p.text) || p.text[p.at] != '\'' {
			return &expression{literal: b.String()}, nil
		}
		b.WriteByte('\'')
	}
	return nil, p.unexpectedCharacter("Literal")
}

func (p *parser) readWord() string {
	p.peekCharacter()
	from := p.at
	for p.at < len(p.text) {
		c := p.text[p.at]
		letter := c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
		if !letter && (p.at == from || c < '0' || c > '9') {
			break
		}
		p.at++
	}
	return p.text[from:p.at]
}

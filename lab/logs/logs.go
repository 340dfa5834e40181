// Package logs shows the lines of the managers' logs about one cluster, in the order of time. It reads the files of the lab, which grow
// meanwhile.
package logs

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"
	"time"
)

// maxLine bounds a line: the rest of a longer one is left out. maxLines bounds the lines of one read: of more the last are kept.
const (
	maxLine  = 64 << 10
	maxLines = 200_000
)

// Line is a line of a manager's log.
type Line struct {
	Time    time.Time
	Manager string
	Text    string
}

// Source is the log of a manager.
type Source struct {
	Manager, File string

	offset int64
	// last is the time of the last line: lines without a time, such as those of a panic, follow it.
	last time.Time
}

// word matches the characters of names.
var word = regexp.MustCompile(`[A-Za-z0-9._-]+`)

// ReadNew returns the lines since the last call that contain one of the names as a whole word, by their time. A file that does not exist has none.
func ReadNew(sources []*Source, names []string, now time.Time) (out []Line, err error) {
	wanted := map[string]bool{}
	for _, name := range names {
		wanted[strings.ToLower(name)] = true
	}
	for _, source := range sources {
		lines, err := source.readNew(wanted, now)
		if err != nil {
			return nil, err
		}
		out = append(out, lines...)
	}
	slices.SortStableFunc(out, func(a, b Line) int { return a.Time.Compare(b.Time) })
	return out, nil
}

func (s *Source) readNew(wanted map[string]bool, now time.Time) (out []Line, err error) {
	file, err := os.Open(s.File)
	if os.IsNotExist(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer file.Close()
	if info, err := file.Stat(); err == nil && info.Size() < s.offset {
		s.offset = 0 // The file was replaced.
	}
	if _, err := file.Seek(s.offset, io.SeekStart); err != nil {
		return nil, err
	}
	in := bufio.NewReaderSize(file, maxLine)
	for {
		text, length, err := readLine(in)
		if err == io.EOF {
			return out, nil // A line without an end is read when it has one.
		}
		if err != nil {
			return nil, err
		}
		s.offset += int64(length)
		if at, is := timeOf(text, now); is {
			s.last = at
		}
		if !containsName(text, wanted) {
			continue
		}
		if out = append(out, Line{Time: s.last, Manager: s.Manager, Text: text}); len(out) > 2*maxLines {
			out = append([]Line(nil), out[len(out)-maxLines:]...)
		}
	}
}

// readLine returns a complete line without its end, and how many bytes it takes.
func readLine(in *bufio.Reader) (text string, length int, err error) {
	for {
		part, err := in.ReadSlice('\n')
		length += len(part)
		if len(text) < maxLine {
			text += string(part)
		}
		if err == bufio.ErrBufferFull {
			continue
		}
		return strings.TrimRight(text, "\r\n"), length, err
	}
}

func containsName(text string, wanted map[string]bool) bool {
	for _, found := range word.FindAllString(text, -1) {
		if wanted[strings.ToLower(found)] {
			return true
		}
	}
	return false
}

// header is the beginning of a line of klog.
// https://github.com/kubernetes/klog/blob/main/klog.go ("Log lines have this form")
var header = regexp.MustCompile(`^[IWEF](\d{4} \d{2}:\d{2}:\d{2}\.\d{6})\s+\d+ [^\]]*\] `)

// timeOf returns the time of a line in klog's format, which has no year, or in JSON.
func timeOf(text string, now time.Time) (time.Time, bool) {
	if found := header.FindStringSubmatch(text); found != nil {
		at, err := time.ParseInLocation("2006 0102 15:04:05.000000", fmt.Sprint(now.Year())+" "+found[1], now.Location())
		if at.After(now.Add(24 * time.Hour)) {
			at = at.AddDate(-1, 0, 0)
		}
		return at, err == nil
	}
	var line struct {
		TS float64 `json:"ts"`
	}
	if strings.HasPrefix(text, "{") && json.Unmarshal([]byte(text), &line) == nil && line.TS > 0 {
		return time.UnixMicro(int64(line.TS * 1000)), true
	}
	return time.Time{}, false
}

// Format returns a line with its time and manager in place of klog's header.
func (l Line) Format() string {
	text := l.Text
	if found := header.FindString(text); found != "" {
		text = text[:1] + " " + text[len(found):]
	}
	return fmt.Sprintf("%s %-18s %s", l.Time.Format("15:04:05.000"), l.Manager, text)
}

package main

import (
	"bytes"
	"encoding/xml"
	"os"
	"path/filepath"
	"testing"
	"unicode/utf8"
)

// TestPictures compares the files in docs/pictures with the tables, and makes sure that pictures are legible: texts fit into their boxes,
// boxes are inside the picture, and only frames and boxes without text overlap others.
func TestPictures(t *testing.T) {
	files, err := filepath.Glob("../../../docs/pictures/*.svg")
	if err != nil || len(files) != len(pictures) {
		t.Errorf("docs/pictures has %d files, the tables %d: %v", len(files), len(pictures), err)
	}
	for name, p := range pictures {
		got, err := os.ReadFile("../../../docs/pictures/" + name)
		if err != nil || !bytes.Equal(got, p.draw()) {
			t.Errorf("docs/pictures/%s is out of date. Run: make generate. %v", name, err)
		}
		if err := xml.Unmarshal(got, new(struct{})); err != nil {
			t.Errorf("docs/pictures/%s is no XML: %v", name, err)
		}
		for i, b := range p.boxes {
			if b.x < 0 || b.y < 0 || b.x+b.w > p.width || b.y+b.h > p.height {
				t.Errorf("%s: the box %s is not inside of the picture", name, b.name)
			}
			if b.style != "frame" && len(b.lines)*lineHeight > b.h {
				t.Errorf("%s: the lines of the box %s are higher than the box", name, b.name)
			}
			for i, line := range b.lines {
				width := characterWidth
				if i == 0 {
					width = titleWidth
				}
				if utf8.RuneCountInString(line)*width > b.w-4 {
					t.Errorf("%s: the text %q is wider than its box", name, line)
				}
			}
			for _, other := range p.boxes[i+1:] {
				background := b.style == "frame" || len(b.lines) == 0
				if !background && b.x < other.x+other.w && other.x < b.x+b.w && b.y < other.y+other.h && other.y < b.y+b.h {
					t.Errorf("%s: the boxes %s and %s overlap", name, b.name, other.name)
				}
			}
		}
	}
}

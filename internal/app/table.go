package app

// Table is a result that people read as a table.
type Table interface {
	Table() (header []string, rows [][]string)
}

// Footnote is a Table with a sentence after it; an empty one is not printed.
type Footnote interface{ Footnote() string }

// textOr returns the text, or the alternative if there is none.
func textOr(text *string, alternative string) string {
	if text == nil {
		return alternative
	}
	return *text
}

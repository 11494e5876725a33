package app

// Table is a result that people read as a table.
type Table interface {
	Table() (header []string, rows [][]string)
}

// textOr returns the text, or the alternative if there is none.
func textOr(text *string, alternative string) string {
	if text == nil {
		return alternative
	}
	return *text
}

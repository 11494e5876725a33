package main

// didYouMean returns a question that names the most similar name, or "".
func didYouMean(name string, names []string) string {
	if near := nearest(name, names); near != "" {
		return "; did you mean " + near + "?"
	}
	return ""
}

// nearest returns the name with the fewest edits to it, or "" if none is close.
func nearest(name string, names []string) string {
	const maxDistance = 3
	best, found := maxDistance+1, ""
	for _, n := range names {
		if d := distance(name, n); d < best {
			best, found = d, n
		}
	}
	return found
}

// distance is the Levenshtein distance.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}

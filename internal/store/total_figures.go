package store

import "fmt"

// figureSources are the sources of the kinds that only the cabinet's figures need.
func (s *Store) figureSources() []totalSource {
	return []totalSource{
		{kinds: []string{totalRequired}, width: 1, minKeySQL: minCourseSQL,
			countSQL: `SELECT '` + totalRequired + `' AS kind, a.course_id AS number_key, a.status AS text_key, count(*) AS n FROM assignments a
				WHERE ` + liveOfCourses + ` AND a.is_required GROUP BY a.course_id, a.status`},
		{kinds: []string{totalDaysTaken}, width: 1, minKeySQL: minCourseSQL,
			countSQL: fmt.Sprintf(`SELECT '`+totalDaysTaken+`' AS kind, a.course_id AS number_key, CAST((%[1]s - %[2]s) / 86400 AS text) AS text_key,
				count(*) AS n FROM assignments a WHERE `+liveOfCourses+` AND a.status = 'completed' AND a.completed_at IS NOT NULL
				GROUP BY a.course_id, (%[1]s - %[2]s) / 86400`, s.db.EpochSeconds("a.completed_at"), s.db.EpochSeconds("a.assigned_at"))},
		s.hourSource(totalDue, "deadline", "a.status <> 'completed'"),
		s.hourSource(totalCompleted, "completed_at", "a.status = 'completed'"),
	}
}

// hourSource counts live assignments by the hour of a column, a day at a time.
func (s *Store) hourSource(kind, column, condition string) totalSource {
	const day = 86400
	live := "a.company_id = $1 AND a.revoked_at IS NULL AND " + condition
	return totalSource{
		kinds: []string{kind}, width: day, byTime: true,
		minKeySQL: fmt.Sprintf(`SELECT %s / %d * %[2]d AS k FROM assignments a WHERE %s AND a.%s >= $3`,
			s.db.EpochSeconds("min(a."+column+")"), day, live, column),
		countSQL: fmt.Sprintf(`SELECT '%[1]s' AS kind, %[2]s / 3600 * 3600 AS number_key, '' AS text_key, count(*) AS n FROM assignments a
			WHERE %[3]s AND a.%[4]s >= $4 AND a.%[4]s < $5 GROUP BY %[2]s / 3600`, kind, s.db.EpochSeconds("a."+column), live, column),
	}
}

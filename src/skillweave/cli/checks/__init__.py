"""What `check` looks at beside what loading finds: texts, links, relations, and the lines of what is wrong."""

/** Returns the section of a version in CHANGELOG.md without its heading; undefined: there is none, or it is empty. */
export function changelogSection(changelog: string, version: string): string | undefined {
  const sections = changelog.split(/^## /m).slice(1)
  const section = sections.find((text) => /^\[?([^\]\s]+)/.exec(text)?.[1] === version)
  const body = section?.slice(section.indexOf('\n')).trim()
  return body === '' ? undefined : body
}

import { readdirSync, readFileSync } from 'node:fs'

/** `docs/runbooks` of the repository or the package. */
const folder = new URL('../../../../docs/runbooks/', import.meta.url)

/** A page for an alert or for a reason of `/readyz`. */
export type Runbook = {
  /** name of the alert, or code of the reason */
  readonly name: string
  readonly meaning: string
  /** the rest of the page, Markdown */
  readonly text: string
}

/** @throws Error for a page without title or meaning */
function parsed(name: string, page: string): Runbook {
  const [title, meaning, ...rest] = page.trim().split('\n\n')
  if (title !== `# ${name}` || meaning === undefined) throw new Error(`runbook ${name} has no title or no meaning`)
  return { name, meaning: meaning.replaceAll('\n', ' '), text: rest.join('\n\n') }
}

/** Reads all runbooks. */
export function runbooks(): readonly Runbook[] {
  const names = readdirSync(folder).filter((file) => file.endsWith('.md') && file !== 'README.md')
  return names.map((file) => parsed(file.slice(0, -3), readFileSync(new URL(file, folder), 'utf8')))
}

import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import MiniSearch from 'minisearch'
import { indexOptions } from '../../web/site/searchIndex.ts'
import { documentOf } from './layout.ts'
import { type RenderedPage, renderPage } from './markdown.ts'
import { linkedPages, navigation, sitePath } from './pages.ts'

export type Site = {
  /** text of each file by its path under the version */
  readonly files: ReadonlyMap<string, string>
  /** links to pages or headings that do not exist */
  readonly broken: readonly string[]
}

/** Makes the list of decisions, which has no file. */
function decisionsPage(root: string): string {
  const decisions = linkedPages(root).filter((page) => page.startsWith('docs/adr/'))
  const titleOf = (page: string): string => /^# (.+)$/m.exec(readFileSync(join(root, page), 'utf8'))?.[1] ?? page
  return `# Decisions\n\n${decisions.map((page) => `- [${titleOf(page)}](${page.replace('docs/adr/', '')})`).join('\n')}\n`
}

const readPage = (root: string, page: string): string =>
  page === 'docs/adr/README.md' ? decisionsPage(root) : readFileSync(join(root, page), 'utf8')

/** Renders all pages and the search index. @param sources address of the files without a page */
export function buildSite(root: string, version: string, sources: string | undefined): Site {
  const sections = navigation
  const pages = [...sections.flatMap((section) => section.pages), ...linkedPages(root)]
  const known = new Set(pages)
  const rendered = new Map<string, RenderedPage>(
    pages.map((page) => [page, renderPage(page, readPage(root, page), { isPage: (path) => known.has(path), sources })]),
  )
  const titles = new Map(Array.from(rendered, ([page, { title }]) => [page, title]))
  const broken = [...rendered.values()].flatMap(({ page, links }) =>
    links
      .filter((link) => rendered.get(link.page)?.anchors.has(link.anchor) === false)
      .map((link) => `${page}: ${link.page}#${link.anchor} does not exist`),
  )
  const missing = pages.flatMap((page) =>
    Array.from(readPage(root, page).matchAll(/\]\((?![a-z]+:|#)([^)#]+)/g), ([, path]) => path ?? '')
      .filter((path) => !existsSync(join(root, page, '..', path)))
      .map((path) => `${page}: ${path} does not exist`),
  )
  const index = new MiniSearch(indexOptions)
  for (const { sections: parts } of rendered.values()) index.addAll(parts)
  return {
    files: new Map([
      ...Array.from(rendered.values(), (one): [string, string] => [
        sitePath(one.page),
        documentOf(one, { navigation: sections, titles, version }),
      ]),
      ['search.json', JSON.stringify(index)],
    ]),
    broken: [...broken, ...missing],
  }
}

/** Names of versions, newest first; a name that is no number comes before them. */
export function versionsIn(folder: string): readonly string[] {
  const numbers = (name: string): readonly number[] => name.replace(/^v/, '').split('.').map(Number)
  const compare = (a: string, b: string): number => {
    const [left, right] = [numbers(a), numbers(b)]
    const at = left.findIndex((value, index) => value !== right[index])
    const [x, y] = [left[at] ?? 0, right[at] ?? 0]
    return Number.isNaN(x) ? -1 : Number.isNaN(y) ? 1 : y - x
  }
  return readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && existsSync(join(folder, entry.name, 'search.json')))
    .map(({ name }) => name)
    .sort(compare)
}

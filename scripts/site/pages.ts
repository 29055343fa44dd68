import { readdirSync } from 'node:fs'
import { join } from 'node:path'

/** A part of the navigation. Paths are those of the repository. */
export type NavSection = { readonly title: string; readonly pages: readonly string[] }

const markdownIn = (root: string, folder: string): readonly string[] =>
  readdirSync(join(root, folder))
    .filter((name) => name.endsWith('.md') && name !== 'README.md')
    .sort()
    .map((name) => `${folder}/${name}`)

/** The pages of the site in the order of its navigation. */
export const navigation: readonly NavSection[] = [
  { title: 'Begin', pages: ['README.md', 'docs/devnet.md', 'docs/migrate.md', 'docs/hardware.md'] },
  {
    title: 'Operate',
    pages: [
      'docs/operators.md',
      'docs/ports.md',
      'docs/security.md',
      'docs/backup.md',
      'docs/upgrade.md',
      'docs/snapshots.md',
      'docs/p2p.md',
      'deploy/README.md',
      'docs/runbooks/README.md',
    ],
  },
  { title: 'Use', pages: ['docs/rpc.md', 'docs/flashblocks.md', 'docs/proofs.md'] },
  {
    title: 'Reference',
    pages: [
      ...['rpc', 'flags', 'faults', 'metrics', 'memory'].map((name) => `docs/reference/${name}.md`),
      'docs/glossary.md',
      'CHANGELOG.md',
    ],
  },
  { title: 'Develop', pages: ['ARCHITECTURE.md', 'CONTRIBUTING.md', 'docs/adr/README.md'] },
]

/** Pages that only other pages link to. */
export const linkedPages = (root: string): readonly string[] => [...markdownIn(root, 'docs/runbooks'), ...markdownIn(root, 'docs/adr')]

/** Returns the path of a page on the site: `docs/reference/flags.md` → `reference/flags.html`, `README.md` → `index.html`. */
export function sitePath(page: string): string {
  const path = page.replace(/^docs\//, '').replace(/README\.md$/, 'index.md')
  return (/^[A-Z]+\.md$/.test(path) ? path.toLowerCase() : path).replace(/\.md$/, '.html')
}

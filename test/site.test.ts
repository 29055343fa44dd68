import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import MiniSearch from 'minisearch'
import { expect, it } from 'vitest'
import { blocksOf, runnable } from '../e2e/docs/blocks.ts'
import { realArguments } from '../e2e/docs/values.ts'
import { buildSite, versionsIn } from '../scripts/site/build.ts'
import { renderPage } from '../scripts/site/markdown.ts'
import { navigation, sitePath } from '../scripts/site/pages.ts'
import { indexOptions } from '../web/site/searchIndex.ts'

const root = resolve(import.meta.dirname, '..')
const site = buildSite(root, 'v1.2.3', undefined)
const noPages = { isPage: () => false, sources: undefined }

it('documentation site: every link leads to a page, a heading, a file or another site', () => {
  const { files, broken } = site
  expect(broken).toEqual([])
  const hrefs = Array.from(files).flatMap(([page, html]) =>
    Array.from(html.matchAll(/ (?:href|src)="(?!#|[a-z]+:)([^"#]+)/g), ([, href]) => join(page, '..', href ?? '')),
  )
  const others = [...new Set(hrefs)].filter((path) => !files.has(path) && !/^(site\.(css|js)|images\/.*\.png)$/.test(path))
  expect(others).toEqual([])
})

it('documentation site: the search finds a flag, a fault and words of a heading', () => {
  const { files } = site
  const index = MiniSearch.loadJSON(files.get('search.json') ?? '', indexOptions)
  const first = (words: string): string[] =>
    index
      .search(words)
      .slice(0, 8)
      .map(({ id }) => String(id))
  expect(first('retain history')).toContain('operators.html#the-database')
  expect(first('DATADIR_LOCKED').some((id) => id.startsWith('reference/faults.html') || id.startsWith('operators.html'))).toBe(true)
  expect(first('firewall')).toContain('ports.html')
  expect(first('rollback')).toContain('migrate.html#rollback')
  expect(first('zzzzqqq')).toEqual([])
})

it('documentation site: a link to a missing page or heading is named', () => {
  const places = { isPage: (path: string) => path === 'docs/a.md', sources: undefined }
  const { links, html } = renderPage('docs/b.md', '# B\n[a](a.md#x) [source](../src/main.ts)', places)
  expect(links).toEqual([{ page: 'docs/a.md', anchor: 'x' }])
  expect(html).toContain('<a href="a.html#x">a</a> source')
  const withSources = renderPage('docs/b.md', '[source](../src/main.ts)', { ...places, sources: 'https://example.org/x' })
  expect(withSources.html).toContain('href="https://example.org/x/src/main.ts"')
})

it('documentation site: text of a page is no HTML, and equal headings have different anchors', () => {
  const { html, headings } = renderPage('a.md', '# `<b>` & "x"\n## Same\n## Same\n```sh\na < b\n```', noPages)
  expect(headings.map(({ anchor }) => anchor)).toEqual(['b--x', 'same', 'same-1'])
  expect(html).toContain('a &lt; b')
  expect(html).not.toContain('<b>')
})

it('documentation site: versions are sorted by number, and other folders are none', () => {
  const folder = mkdtempSync(join(tmpdir(), 'basalt-site-'))
  for (const name of ['v0.9.0', 'v0.10.0', 'next', 'v0.10.1']) {
    mkdirSync(join(folder, name))
    writeFileSync(join(folder, name, 'search.json'), '{}')
  }
  mkdirSync(join(folder, 'other'))
  expect(versionsIn(folder)).toEqual(['next', 'v0.10.1', 'v0.10.0', 'v0.9.0'])
  rmSync(folder, { recursive: true })
})

const pages = navigation.flatMap((section) => section.pages).filter((page) => page !== 'docs/adr/README.md')
const blocks = pages.flatMap((page) => blocksOf(page, readFileSync(join(root, page), 'utf8')))
const isReference = (page: string): boolean => page.startsWith('docs/reference/')

it('documentation: each block has a language, so that npm run test:docs knows whether it is run', () => {
  const unknown = blocks.filter(({ page, language }) => !isReference(page) && ![...runnable, 'text'].includes(language))
  expect(unknown.map(({ page, line }) => `${page}:${line}`)).toEqual([])
})

it('documentation: a block of text has no command', () => {
  const commands = blocks.filter(({ language, code }) => language === 'text' && /^\s*(npx |basalt |npm |curl |docker |sudo )/m.test(code))
  const answers = commands.filter(({ code }) => !/^basalt: /m.test(code))
  expect(answers.map(({ page, line }) => `${page}:${line}`)).toEqual([])
})

it('e2e/docs/blocks: reads languages, indented blocks and remarks, and refuses a block without an end', () => {
  const page = '<!-- run after: a=1 -->\n```sh\necho $a\n```\n- item\n  <!-- not run: needs the moon -->\n  ```sh\n  one\n    two\n  ```\n'
  expect(blocksOf('p.md', page)).toEqual([
    { page: 'p.md', line: 2, language: 'sh', code: 'echo $a', before: 'a=1', skipped: undefined },
    { page: 'p.md', line: 7, language: 'sh', code: 'one\n  two', before: '', skipped: 'needs the moon' },
  ])
  expect(() => blocksOf('p.md', 'a\n```sh\nb')).toThrow('p.md:2: the block has no end')
})

it('e2e/docs/values: puts the devnet in place of a public chain and of placeholders', () => {
  const values = { l1: 'http://127.0.0.1:1', beacon: 'b', rpc: 'r', rollupConfig: 'R', genesis: 'G', l1Config: 'C' }
  const line = ['node', '--network', 'base', '--l1.rpc', 'URL,URL', '--l1.beacon', 'URL', '--datadir', 'DIR', '--http.port', '1']
  expect(realArguments(line, values, false).join(' ')).toBe(
    'node --rollup.config R --genesis G --l1.chain-config C --l1.rpc http://127.0.0.1:1,http://localhost:1 --l1.beacon b --datadir ./data --http.port 1',
  )
  expect(realArguments(['node', '--mode', 'execution', '…'], values, false).join(' ')).toBe(
    'node --mode execution --rollup.config R --genesis G --datadir ./data',
  )
  expect(sitePath('docs/runbooks/README.md')).toBe('runbooks/index.html')
})

import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { readinessReasons } from '#node/health/readinessReasons'
import { faultCodes, unknownMetrics, unknownSettings } from './references.ts'
import { alertRules, root } from './rules.ts'

const folder = join(root, 'docs/runbooks')
const pages = readdirSync(folder)
  .filter((file) => file !== 'README.md')
  .map((file) => ({ name: file.replace(/\.md$/, ''), text: readFileSync(join(folder, file), 'utf8') }))
const reasons = readinessReasons.map(({ code }) => code)
/** Flags of commands and other programs in the pages. */
const commandFlags = new Set(['check', 'tail'])

it('docs/runbooks: has a page for every alert and for every reason of /readyz, and no other', () => {
  const wanted = [...alertRules.map(({ alert }) => alert), ...reasons, 'other']
  expect(pages.map(({ name }) => name).sort()).toEqual(wanted.sort())
  const index = readFileSync(join(folder, 'README.md'), 'utf8')
  expect(wanted.filter((name) => !index.includes(`- [${name}](${name}.md): `))).toEqual([])
})

it('docs/runbooks: a page has its meaning, then where to look, what to do and how to verify, on one page', () => {
  for (const { name, text } of pages) {
    const [title, blank, meaning] = text.split('\n')
    expect([title, blank, meaning === '']).toEqual([`# ${name}`, '', false])
    expect([name, text.match(/^## .*$/gm)]).toEqual([name, ['## Look at', '## Do', '## Verify']])
    expect([name, text]).toEqual([name, expect.stringContaining('## Look at\n- ')])
    expect([name, text]).toEqual([name, expect.stringContaining('## Do\n1. ')])
    expect(text.split('\n').length).toBeLessThanOrEqual(40)
  }
})

it('docs/runbooks: names metrics, labels, flags, codes and pages that exist', () => {
  const codes = new Set([...faultCodes, ...reasons])
  const unknown = pages.flatMap(({ text }) => [
    ...unknownMetrics(text.replaceAll('"CODE"', '"other"')),
    ...unknownSettings(text).filter((word) => !commandFlags.has(word)),
    ...[...text.matchAll(/`([A-Z][A-Z0-9]+_[A-Z0-9_]+[A-Z0-9])`/g)].map(([, code = '']) => code).filter((code) => !codes.has(code)),
    ...[...text.matchAll(/\]\(([^)]+)\)/g)].map(([, path = '']) => path).filter((path) => !existsSync(join(folder, path))),
  ])
  expect(unknown).toEqual([])
})

it('docs/reference: every code of a fault has an anchor', () => {
  const reference = readFileSync(join(root, 'docs/reference/faults.md'), 'utf8')
  const anchors = new Set([...reference.matchAll(/<a id="(\w+)">/g)].map(([, code]) => code))
  expect(faultCodes.size).toBeGreaterThan(150)
  expect([...faultCodes].filter((code) => !anchors.has(code))).toEqual([])
})

import { execFileSync } from 'node:child_process'
import { expect, it } from 'vitest'

/** Prints the anonymous memory of the process in bytes: before it makes garbage, with the garbage, and after a collection. */
const script = `
import { createCollector } from ${JSON.stringify(new URL('./collectGarbage.ts', import.meta.url).href)}
import { anonymousBytes } from ${JSON.stringify(new URL('./processMemory.ts', import.meta.url).href)}
const collect = createCollector()
collect()
const bytes = [anonymousBytes()]
let kept = Array.from({ length: 1_000_000 }, (_, i) => [i, { i }])
bytes.push(anonymousBytes())
kept = undefined
collect()
bytes.push(anonymousBytes())
console.log(bytes.join(' '))
`

it.runIf(process.platform === 'linux')('lib/collectGarbage: a collection returns the pages of garbage to the system', () => {
  const flags = ['--expose-gc', '--max-semi-space-size=16', '--input-type=module', '--eval', script]
  const [before = 0, full = 0, after = 0] = execFileSync(process.execPath, flags, { encoding: 'utf8' }).split(' ').map(Number)
  expect(full - before).toBeGreaterThan(60_000_000)
  expect(after - before).toBeLessThan((full - before) / 5)
})

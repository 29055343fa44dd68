import { Registry } from 'prom-client'
import { expect, it } from 'vitest'
import { networkOf } from '#chainspec/networks'
import { createLog } from '#lib/log'
import { createManualClock } from '#test/harness/clock'
import { l2Headers, outputRootOf } from '#test/harness/trust/l2Headers'
import { type Proposal, proposalsOnL1, witnessOf } from '#test/harness/trust/proposals'
import type { L1Witness } from '#trust/ports'
import type { ChainView } from '#types/chainView'
import { type Header, hashHeader } from '#types/header'
import { parseAddress } from '#types/ids'
import type { Grade, TrustRecord } from '#types/trust'
import { openTrust } from './trustPart.ts'

const { config } = networkOf('base')
const nowSec = 1_796_000_000
const headers = l2Headers(60_000_590, 60_000_600, nowSec - 8_000)
const [first, last] = [headers[0] ?? expect.fail(), headers.at(-1) ?? expect.fail()]
const block = { number: first.number, hash: hashHeader(first) }
const proposal: Proposal = {
  ...{ address: parseAddress(`0x${'61'.repeat(20)}`), startBlock: 60_000_000, block: 60_006_000 },
  roots: { 60000600: outputRootOf(last) },
}

/** Views of a chain that begins with the first header. */
function chainOf(base: TrustRecord, known: readonly Header[]) {
  const canonicalHash = (number: number) => known.filter((header) => header.number === number).map((header) => hashHeader(header))[0]
  const header = (hash: Header['parentHash']) => known.find((each) => hashHeader(each) === hash)
  const view = { base, canonicalHash, header, [Symbol.dispose]: () => {} } as unknown as ChainView
  return { view: () => view }
}

function opened(base: TrustRecord, witnesses: readonly L1Witness[], trustRequired?: Grade, known = headers) {
  const clock = createManualClock(nowSec * 1_000)
  const lines: Record<string, unknown>[] = []
  const log = createLog('info', { write: (line) => void lines.push(JSON.parse(line)) })
  const registry = new Registry()
  const execution = chainOf(base, known) as unknown as Parameters<typeof openTrust>[0]['execution']
  const trust = openTrust({ clock, log, registry, execution, witnesses }, { config, ...(trustRequired && { trustRequired }) })
  return { clock, lines, trust, execution, grades: () => registry.getSingleMetricAsString('basalt_trust_grade_info') }
}

const two = (proposed: Partial<Proposal> = {}): readonly L1Witness[] => {
  const state = proposalsOnL1({ proposals: [{ ...proposal, ...proposed }], timestamp: nowSec - 900 })
  return [witnessOf('a.example', state), witnessOf('b.example', state)]
}

it('node/trustPart: a node that began with genesis is derived, ready, and never reads L1', async () => {
  const { clock, trust, lines, grades } = opened({ block, grade: 'derived' }, two())
  expect([trust.problems(), clock.waiting]).toEqual([[], 0])
  expect(lines).toMatchObject([{ msg: 'state of this node begins', number: block.number, hash: block.hash, trust: 'derived' }])
  expect(await grades()).toContain('basalt_trust_grade_info{grade="derived"} 1')
})

it('node/trustPart: a chain that ends while L1 is read ends the reads with a line in the log', async () => {
  const { clock, lines, execution } = opened({ block, grade: 'given' }, two({ roots: {} }))
  execution.view = () => {
    throw new Error('the execution thread has ended')
  }
  await clock.advanceMs(10_000)
  expect(lines.at(-1)).toMatchObject({ level: 'error', msg: 'trust in the block on which the state begins is not read any more' })
  expect(clock.waiting).toBe(0)
})

it('node/trustPart: a block of a lower grade than demanded is a problem until L1 vouches for it', async () => {
  const { clock, trust, lines, grades } = opened({ block, grade: 'given' }, two())
  expect(trust.problems()).toEqual(['the state begins with block 60000590, which is given, --trust.require demands attested'])
  await clock.advanceMs(10_000)
  expect(trust.problems()).toEqual([])
  expect(trust.record()).toMatchObject({ block, grade: 'attested', game: proposal.address })
  expect(lines.at(-1)).toMatchObject({ msg: 'trust in the block on which the state begins has a higher grade', trust: 'attested' })
  expect(await grades()).toContain('basalt_trust_grade_info{grade="attested"} 1')
  expect(await grades()).toContain('basalt_trust_grade_info{grade="given"} 0')
})

it('node/trustPart: reads L1 again after ten minutes, and ends when the block is anchored', async () => {
  const state = proposalsOnL1({ proposals: [{ ...proposal, status: 2 }], timestamp: nowSec - 900, anchor: proposal.address })
  let witnesses = two()
  const now = (i: number): L1Witness => witnesses[i] ?? expect.fail()
  const late = [0, 1].map(
    (i): L1Witness => ({
      name: now(i).name,
      finalized: (signal) => now(i).finalized(signal),
      at: (number, signal) => now(i).at(number, signal),
      proofs: (number, requests, signal) => now(i).proofs(number, requests, signal),
      codes: (number, addresses, signal) => now(i).codes(number, addresses, signal),
    }),
  )
  const { clock, trust } = opened({ block, grade: 'given' }, late)
  await clock.advanceMs(10_000)
  expect(trust.record().grade).toBe('attested')
  witnesses = [witnessOf('a.example', state), witnessOf('b.example', state)]
  await clock.advanceMs(599_000)
  expect(trust.record().grade).toBe('attested')
  await clock.advanceMs(2_000)
  expect([trust.record().grade, clock.waiting]).toEqual(['anchored', 0])
})

it('node/trustPart: names why L1 does not vouch for the block, and keeps the grade that it had', async () => {
  const given = opened({ block, grade: 'given' }, two({ proofs: 0 }))
  await given.clock.advanceMs(10_000)
  expect(given.trust.problems()[0]).toMatch(/which is given, --trust\.require demands attested: the proposal 0x61.* no proof/)
  const attested = opened({ block, grade: 'attested' }, two({ isCountered: true }))
  await attested.clock.advanceMs(10_000)
  expect([attested.trust.problems(), attested.trust.record().grade]).toEqual([[], 'attested'])
  expect(attested.lines.at(-1)).toMatchObject({ level: 'warn', reason: expect.stringMatching('challenged') })
})

it('node/trustPart: waits for the headers that link the block to a checkpoint, and reads L1 again after a minute', async () => {
  const known = headers.slice(0, 4)
  const { clock, trust, lines } = opened({ block, grade: 'given' }, two(), 'attested', known)
  await clock.advanceMs(10_000)
  expect(trust.problems()[0]).toMatch(/headers 60000594 to 60000600 are missing/)
  expect(lines.filter(({ level }) => level === 'warn')).toEqual([])
  known.push(...headers.slice(4))
  await clock.advanceMs(61_000)
  expect([trust.problems(), trust.record().grade]).toEqual([[], 'attested'])
})

it('node/trustPart: reads L1 again a minute after it could not be read, and not after its end', async () => {
  const down = proposalsOnL1({ proposals: [proposal], timestamp: nowSec - 900 })
  let asked = 0
  const liar = (name: string) =>
    witnessOf(name, down, {
      proofs: async () => {
        asked++
        return []
      },
    })
  const { clock, trust } = opened({ block, grade: 'given' }, [liar('a.example'), liar('b.example')])
  await clock.advanceMs(10_000)
  expect([asked, trust.problems()[0]]).toEqual([2, expect.stringMatching(/sends no valid proof/)])
  await clock.advanceMs(60_000)
  expect(asked).toBe(4)
  trust[Symbol.dispose]()
  await clock.advanceMs(600_000)
  expect(asked).toBe(4)
})

it('node/trustPart: accepts what the operator vouches for when given is enough', () => {
  expect(opened({ block, grade: 'given' }, [], 'given').trust.problems()).toEqual([])
})

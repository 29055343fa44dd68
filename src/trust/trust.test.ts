import { Registry } from 'prom-client'
import { describe, expect, it } from 'vitest'
import { networkOf } from '#chainspec/networks'
import { fromHex } from '#lib/hex'
import { silentLog } from '#lib/log'
import { l2Headers, outputRootOf } from '#test/harness/trust/l2Headers'
import { cloneCode, type Proposal, type ProposalsOnL1, proposalsOnL1, witnessOf } from '#test/harness/trust/proposals'
import { type Header, hashHeader } from '#types/header'
import { type Hash, parseAddress, zeroHash } from '#types/ids'
import { trustFault } from './faults.ts'
import { trustMetrics } from './metrics.ts'
import type { HeaderLinks, L1Witness } from './ports.ts'
import { createTrust, type TrustOptions, type TrustVerdict } from './trust.ts'

const { config } = networkOf('base')
const nowSec = 1_796_000_000
const finalizedSec = nowSec - 900
const { signal } = new AbortController()
const game = (n: number): Proposal['address'] => parseAddress(`0x${n.toString(16).padStart(40, '0')}`)

/** Blocks 60,000,590 to 60,000,600; the last one is a checkpoint of the proposal that begins at 60,000,000. */
const headers = l2Headers(60_000_590, 60_000_600, nowSec - 8_000)
const at = (number: number): Header => headers.find((header) => header.number === number) ?? expect.fail(`no header ${number}`)
const first = at(60_000_590)
const checkpoint = at(60_000_600)
const proposal: Proposal = { address: game(1), startBlock: 60_000_000, block: 60_006_000, roots: { 60000600: outputRootOf(checkpoint) } }
const links: HeaderLinks = async (from, to) => headers.filter(({ number }) => number >= from && number <= to)

type World = { readonly witnesses: readonly L1Witness[]; readonly options?: Partial<TrustOptions> }

async function verify(world: World, header = first, source = links): Promise<{ verdict: TrustVerdict; reads: string }> {
  const registry = new Registry()
  const deps = {
    witnesses: world.witnesses,
    clock: { nowMs: () => nowSec * 1_000 },
    log: silentLog,
    metrics: trustMetrics.register(registry),
  }
  const trust = createTrust(deps, { config, required: 'attested', ...world.options })
  return {
    verdict: await trust.verifyHeader(header, source, signal),
    reads: await registry.getSingleMetricAsString('basalt_trust_l1_reads_total'),
  }
}

const l1Of = (on: Partial<ProposalsOnL1> = {}) => proposalsOnL1({ proposals: [proposal], timestamp: finalizedSec, ...on })
const two = (on: Partial<ProposalsOnL1> = {}): World => {
  const state = l1Of(on)
  return { witnesses: [witnessOf('a.example', state), witnessOf('b.example', state)] }
}
const refusal = (reason: RegExp) => ({ kind: 'refused', reason: expect.stringMatching(reason), fix: expect.stringMatching(/\w/) })

describe('a block that L1 vouches for', () => {
  it('trust/trust: is attested by an intermediate root, to which parent hashes link it', async () => {
    const { verdict } = await verify(two())
    const { number, hash } = l1Of().block
    expect(verdict).toEqual({
      kind: 'trusted',
      record: { block: { number: 60_000_590, hash: hashHeader(first) }, grade: 'attested', l1: { number, hash }, game: game(1) },
    })
  })

  it('trust/trust: needs no other header when it is a checkpoint itself', async () => {
    const none: HeaderLinks = () => expect.fail('no link is needed')
    expect((await verify(two(), checkpoint, none)).verdict).toMatchObject({ kind: 'trusted', record: { grade: 'attested' } })
  })

  it('trust/trust: matches the root claim of a proposal', async () => {
    const claimed: Proposal = { address: game(2), startBlock: 59_994_600, block: 60_000_600, roots: { 60000600: outputRootOf(checkpoint) } }
    expect((await verify(two({ proposals: [claimed] }))).verdict).toMatchObject({ kind: 'trusted', record: { game: game(2) } })
  })

  it('trust/trust: is resolved after the challenge period, anchored below the anchor game', async () => {
    const resolved: Proposal = { ...proposal, status: 2 }
    expect((await verify(two({ proposals: [resolved] }))).verdict).toMatchObject({ record: { grade: 'resolved' } })
    const child: Proposal = { address: game(3), startBlock: 60_006_000, block: 60_012_000, roots: {}, status: 2, parent: game(1) }
    const anchored = two({ proposals: [resolved, child], anchor: game(3) })
    expect((await verify(anchored)).verdict).toMatchObject({ record: { grade: 'anchored', game: game(1) } })
    expect((await verify({ ...anchored, options: { required: 'anchored' } })).verdict).toMatchObject({ kind: 'trusted' })
  })

  it('trust/trust: is found among hundreds of earlier and later games of other types and blocks', async () => {
    const created = first.timestamp + 1_800
    const others = Array.from({ length: 300 }, (_, i): Proposal => {
      const startBlock = 58_200_000 + 6_000 * i
      return { address: game(1_000 + i), startBlock, block: startBlock + 6_000, roots: {}, createdSec: created - (300 - i) * 1_200 }
    })
    const later: Proposal[] = [
      { ...proposal, address: game(4), type: 1, createdSec: created },
      { ...proposal, createdSec: created + 12 },
      { address: game(5), startBlock: 60_006_000, block: 60_012_000, roots: {}, createdSec: created + 1_212 },
    ]
    const { verdict, reads } = await verify(two({ proposals: [...others, ...later] }))
    expect(verdict).toMatchObject({ kind: 'trusted', record: { game: game(1) } })
    const requests = Number(/outcome="ok"\} (\d+)/.exec(reads)?.[1])
    expect(requests).toBeLessThan(10)
  })

  it('trust/trust: is vouched for by the next proposal when an earlier one does not count', async () => {
    const bad: Proposal = { ...proposal, address: game(6), proofs: 0 }
    expect((await verify(two({ proposals: [bad, proposal] }))).verdict).toMatchObject({ kind: 'trusted', record: { game: game(1) } })
  })

  it('trust/trust: genesis is derived, without L1', async () => {
    const genesis = { number: 0, hash: hashHeader(at(60_000_590)) }
    const own = { ...config, genesis: { ...config.genesis, l2: { ...genesis, number: 60_000_590 } } }
    expect((await verify({ witnesses: [], options: { config: own } })).verdict).toMatchObject({ record: { grade: 'derived' } })
  })
})

describe('a proposal that does not count', () => {
  it.each<[string, Partial<Proposal>, Partial<ProposalsOnL1>, RegExp]>([
    ['is blacklisted', {}, { blacklisted: [game(1)] }, /blacklisted/],
    ['is retired', {}, { retirementSec: finalizedSec - 3_600 }, /retired/],
    ['was not respected', { wasRespected: false }, {}, /not the respected one/],
    ['has no proof', { proofs: 0 }, {}, /no proof/],
    ['is challenged', { isCountered: true, proofs: 2 }, {}, /challenged/],
    ['is lost', { status: 1 }, {}, /challenger has won/],
    ['has another type', { type: 1 }, {}, /no proposal of block 60000590/],
    ['has another root', { roots: { 60000600: zeroHash } }, {}, /has the output root 0x0+ for block 60000600/],
    ['has code of another form', { code: cloneCode(fromHex('0x1234')) }, {}, /no proposal of block/],
    ['was created before the block', { createdSec: first.timestamp - 1 }, {}, /no proposal of block/],
    [
      'is of later blocks',
      { startBlock: 60_006_000, block: 60_012_000 },
      {},
      /no proposal of block 60000590 .*newest is of block 60012000/,
    ],
  ])('trust/trust: refuses a block whose proposal %s', async (_title, proposed, on, reason) => {
    expect((await verify(two({ proposals: [{ ...proposal, ...proposed }], ...on }))).verdict).toEqual(refusal(reason))
  })

  it('trust/trust: refuses a block without any proposal, and a list that is empty', async () => {
    expect((await verify(two({ proposals: [] }))).verdict).toEqual(refusal(/no proposal of block 60000590 at its finalized block$/))
  })

  it('trust/trust: refuses an attested block when a resolved one is demanded', async () => {
    const verdict = (await verify({ ...two(), options: { required: 'resolved' } })).verdict
    expect(verdict).toEqual(refusal(/block 60000590 is attested, resolved is demanded/))
  })
})

describe('a header that is not the one on L1', () => {
  it('trust/trust: refuses links that are missing, not linked, or of another branch', async () => {
    expect((await verify(two(), first, async () => [])).verdict).toEqual(refusal(/headers 60000591 to 60000600 are missing/))
    const some: HeaderLinks = async (from, to) => (await links(from, to, signal)).slice(0, 3)
    expect((await verify(two(), first, some)).verdict).toEqual(refusal(/headers 60000594 to 60000600 are missing/))
    const other = l2Headers(60_000_590, 60_000_600, nowSec - 8_000, zeroHash)
    expect((await verify(two(), first, async () => other.slice(1))).verdict).toEqual(
      refusal(/header 60000591 .* no child of block 60000590/),
    )
    const branch: HeaderLinks = async () => other.slice(1)
    const start = other[0] ?? expect.fail('no header')
    expect((await verify(two(), start, branch)).verdict).toEqual(refusal(/has the output root/))
  })

  it('trust/trust: refuses a header before Isthmus', async () => {
    const old = { ...first, timestamp: 1_700_000_000 }
    expect((await verify(two(), old)).verdict).toEqual(refusal(/older than Isthmus/))
  })

  it('trust/trust: reads no more links than lie between two roots', async () => {
    const endless = l2Headers(60_000_590, 60_002_000, nowSec - 8_000)
    expect((await verify(two(), first, async () => endless.slice(1))).verdict).toMatchObject({ kind: 'trusted' })
  })
})

describe('an endpoint that lies', () => {
  const honest = l1Of()
  const nothing = l1Of({ proposals: [] })
  const forged = l1Of({ proposals: [{ ...proposal, roots: { 60000600: zeroHash } }] })

  it.each<[string, Partial<L1Witness>]>([
    ['the length of the list', { proofs: async (_block, requests) => requests.map((request) => nothing.proof(request)) }],
    ['a root, with the proofs of another state', { proofs: async (_block, requests) => requests.map((request) => forged.proof(request)) }],
    ['code', { codes: async (_block, addresses) => addresses.map((address) => forged.code(address)) }],
    ['code, which is absent', { codes: async (_block, addresses) => addresses.map(() => '0x') }],
    ['code, which is no hex', { codes: async (_block, addresses) => addresses.map(() => null) }],
    ['proofs, which are absent', { proofs: async () => [] }],
    [
      'proofs, which are cut',
      { proofs: async (_block, requests) => requests.map(({ address }) => ({ address, accountProof: [], storageProof: [] })) },
    ],
  ])('trust/trust: does not count when it lies about %s; the other one is read (L1_PROOF_INVALID)', async (_title, lies) => {
    const world = { witnesses: [witnessOf('liar.example', honest, lies), witnessOf('b.example', honest)] }
    const { verdict, reads } = await verify(world)
    expect(verdict).toMatchObject({ kind: 'trusted', record: { grade: 'attested' } })
    expect(reads).toContain('outcome="invalid"} 1')
    const both = { witnesses: [witnessOf('liar.example', honest, lies), witnessOf('b.example', honest, lies)] }
    await expect(verify(both)).rejects.toMatchObject({ code: 'L1_PROOF_INVALID', severity: 'retry' })
  })

  it('trust/trust: refuses a block that one endpoint alone has a proposal of', async () => {
    // a whole state with a proposal that L1 does not have
    const world = { witnesses: [witnessOf('liar.example', honest), witnessOf('b.example', nothing)] }
    expect((await verify(world)).verdict).toEqual(refusal(/disagree on the finalized block 24000000.*b\.example|liar\.example/))
  })

  it.each<[string, Partial<L1Witness>, RegExp]>([
    ['has none', { finalized: async () => undefined }, /liar\.example has no finalized L1 block/],
    [
      'has one of three hours ago',
      { finalized: async () => ({ ...honest.block, timestamp: nowSec - 10_800 }) },
      /liar\.example.* is 10800 s old/,
    ],
    [
      'has a lower one that the other does not know',
      { finalized: async () => ({ ...honest.block, number: 23_999_000, hash: zeroHash }) },
      /disagree on the finalized block 23999000.*b\.example does not have it/,
    ],
  ])('trust/trust: refuses when the finalized block of one endpoint is wrong: it %s', async (_title, lies, reason) => {
    const world = { witnesses: [witnessOf('liar.example', honest, lies), witnessOf('b.example', honest)] }
    expect((await verify(world)).verdict).toEqual(refusal(reason))
  })

  it('trust/trust: reads at the lower of two finalized blocks', async () => {
    const ahead = { ...honest.block, number: honest.block.number + 30, hash: zeroHash, timestamp: finalizedSec + 360 }
    const world = { witnesses: [witnessOf('a.example', honest, { finalized: async () => ahead }), witnessOf('b.example', honest)] }
    expect((await verify(world)).verdict).toMatchObject({ record: { l1: { number: 24_000_000, hash: honest.block.hash } } })
  })
})

describe('endpoints that are too few', () => {
  const honest = l1Of()
  const down: Partial<L1Witness> = {
    finalized: async () => {
      throw trustFault('L1_PROOF_INVALID', { endpoint: 'c.example', what: 'nothing', block: 0, reason: 'down' })
    },
  }

  it.each<[string, readonly L1Witness[]]>([
    ['one', [witnessOf('a.example', honest)]],
    ['none', []],
    ['two of one host', [witnessOf('a.example', honest), witnessOf('a.example (2)', honest)]],
    ['two, of which one is down', [witnessOf('a.example', honest), witnessOf('c.example', honest, down)]],
  ])('trust/trust: refuses with %s', async (_title, witnesses) => {
    expect((await verify({ witnesses })).verdict).toEqual(refusal(/two of different hosts must agree/))
  })

  it('trust/trust: accepts two of three, and reports the fault when all are down', async () => {
    const third = witnessOf('c.example', honest, down)
    expect((await verify({ witnesses: [witnessOf('a.example', honest), third, witnessOf('b.example', honest)] })).verdict).toMatchObject({
      kind: 'trusted',
    })
    await expect(verify({ witnesses: [third] })).rejects.toMatchObject({ severity: 'retry' })
  })
})

describe('an endpoint that states its finalized block and is silent about the agreed one', () => {
  const honest = l1Of()
  const silent: Partial<L1Witness> = {
    finalized: async () => ({ ...honest.block, number: honest.block.number + 30, hash: zeroHash, timestamp: finalizedSec + 360 }),
    at: async () => {
      throw trustFault('L1_PROOF_INVALID', { endpoint: 'c.example', what: 'nothing', block: 0, reason: 'down' })
    },
  }
  const [a, second, b] = ['a.example', 'a.example (2)', 'b.example'].map((name) => witnessOf(name, honest)) as [
    L1Witness,
    L1Witness,
    L1Witness,
  ]
  const c = witnessOf('c.example', honest, silent)

  it('trust/trust: has no say when two others agree', async () => {
    for (const witnesses of [
      [a, b, c],
      [c, a, b],
    ]) {
      expect((await verify({ witnesses })).verdict).toMatchObject({ kind: 'trusted', record: { l1: { hash: honest.block.hash } } })
    }
  })

  it('trust/trust: fails the read when one host alone has the block, through any number of endpoints', async () => {
    for (const witnesses of [
      [a, c],
      [a, second, c],
      [a, witnessOf('b.example', honest, silent), c],
    ]) {
      await expect(verify({ witnesses })).rejects.toMatchObject({ severity: 'retry' })
    }
  })

  it('trust/trust: does not hide that a third one disagrees', async () => {
    const other = witnessOf('b.example', honest, { ...silent, at: async (number) => ({ ...honest.block, number, hash: zeroHash }) })
    expect((await verify({ witnesses: [a, second, other, c] })).verdict).toEqual(
      refusal(/disagree on the finalized block.*b\.example has 0x0+/),
    )
  })
})

describe('a hash for which the operator vouches', () => {
  const givenHash = hashHeader(first)

  it('trust/trust: is enough when given is demanded, without L1', async () => {
    const { verdict } = await verify({ witnesses: [], options: { required: 'given', givenHash } })
    expect(verdict).toEqual({ kind: 'trusted', record: { block: { number: 60_000_590, hash: givenHash }, grade: 'given' } })
  })

  it('trust/trust: refuses another block, whatever is demanded', async () => {
    const options = { required: 'given', givenHash: zeroHash as Hash } as const
    expect((await verify({ ...two(), options })).verdict).toEqual(refusal(/--start\.block-hash is 0x0+/))
  })

  it('trust/trust: does not replace the grade that is demanded', async () => {
    expect((await verify({ ...two({ proposals: [] }), options: { givenHash } })).verdict).toEqual(refusal(/no proposal/))
    expect((await verify({ ...two(), options: { givenHash } })).verdict).toMatchObject({ record: { grade: 'attested' } })
    expect((await verify({ ...two(), options: { required: 'given' } })).verdict).toMatchObject({ record: { grade: 'attested' } })
  })

  it('trust/trust: is the only way for a chain without known proposals', async () => {
    const own = { ...config, l2ChainId: 4_242 }
    expect((await verify({ ...two(), options: { config: own } })).verdict).toEqual(refusal(/no proposals of chain 4242/))
  })
})

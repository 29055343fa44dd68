import { describe, expect, it } from 'vitest'
import type { WantedState } from '#evm/ports'
import { toHex } from '#lib/hex'
import { unpackBytes } from '#lib/packedBytes'
import {
  at,
  errorWith,
  honest,
  inTime,
  now,
  request,
  sourcesOf,
  type Twist,
  unknownMethod,
  wanted,
  witnessMethod,
} from '#test/harness/state/scriptedSources'

const witnessTwist =
  (answerOf: () => unknown): Twist =>
  (call, answer) =>
    call.method === witnessMethod ? answerOf() : answer

describe('l2/stateSources: the witness of a block', () => {
  const block = { number: 1, hash: at.hash, parentStateRoot: now.root }
  const wantedSlot = { ...request(wanted['slot'] as WantedState), block }

  it('is returned instead of a part, and not verified here', async () => {
    const { sources } = sourcesOf([honest()])
    const { nodes, codes, witness } = await sources.fetch(wantedSlot)
    expect([nodes, codes]).toEqual([[], []])
    if (witness === undefined || witness === 'stored') expect.fail()
    expect([witness.stateRoot, unpackBytes(witness.nodes).map(toHex), unpackBytes(witness.codes).map(toHex)]).toEqual([
      now.root,
      ['0x80', '0xc0'],
      ['0x6001'],
    ])
    expect((await sources.fetch({ ...wantedSlot, partOnly: true })).nodes.length).toBeGreaterThan(2)
  })

  it('is requested again after the pause of a source that failed', async () => {
    let failures = 2
    const script = {
      ...honest(),
      http: (text: string) => (failures-- > 0 ? new Response('', { status: 500 }) : new Response(text)),
    }
    const { sources, clock } = sourcesOf([script])
    expect(await inTime(clock, sources.witness(block))).toMatchObject({ stateRoot: now.root })
    expect(script.asked.filter((method) => method === witnessMethod)).toHaveLength(3)
  })

  it.each<[string, Twist]>([
    ['an error', witnessTwist(() => errorWith(-32_000))],
    ['no such method', witnessTwist(() => unknownMethod)],
  ])('is not there, and the part is proved at once: %s', async (_what, twist) => {
    const { sources, clock } = sourcesOf([{ ...honest(), twist }])
    expect(await sources.witness(block)).toBeUndefined()
    expect((await sources.fetch(wantedSlot)).nodes.length).toBeGreaterThan(2)
    expect(clock.elapsedMs()).toBe(0)
  })

  it.each<[string, unknown]>([
    ['parts that are not hex', { state: ['0x8z'], codes: [] }],
    ['half a byte', { state: ['0x801'], codes: [] }],
    ['another form', { state: 5 }],
    ['too many parts', { state: Array(200_001).fill('0x'), codes: [] }],
  ])('of another form pauses the source for witnesses only: %s', async (_what, answer) => {
    const { sources, clock } = sourcesOf([{ ...honest(), twist: witnessTwist(() => answer) }], { deadlineMs: 1_000 })
    expect(await inTime(clock, sources.witness(block))).toBeUndefined()
    expect((await sources.fetch({ ...wantedSlot, partOnly: true })).nodes.length).toBeGreaterThan(2)
  })
})

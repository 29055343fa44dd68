import { expect, it } from 'vitest'
import type { L1Block } from '#derive/ports'
import type { Endpoint } from '#lib/endpoint'
import { silentLog } from '#lib/log'
import { createManualClock } from '#test/harness/clock'
import type { L1Ref } from '#types/blockRef'
import type { Address, Hash } from '#types/ids'
import { createReceipt } from '#types/receipt'
import type { Rpc } from './rpc.ts'
import { watchUnsafeSigner } from './unsafeSignerWatch.ts'

const contract = `0x${'c0'.repeat(20)}` as Address
const signer = (digit: number): Address => `0x${`${digit}`.repeat(40)}` as Address
const word = (address: string): string => `0x${'0'.repeat(24)}${address.slice(2)}`
/** ConfigUpdate(version 0, type 3) of the SystemConfig. @see specs protocol/system-config.md */
const topics = [
  '0x1d2b0bda21d56b8bd12d4f94ebacffdfb35f5e226f84b461103bb8beab6353be',
  `0x${'0'.repeat(64)}`,
  `0x${'0'.repeat(63)}3`,
] as unknown as readonly Hash[]

function updateAt(number: number, to: Address, address = contract): L1Block {
  const data = Buffer.from(`${'20'.padStart(64, '0')}${'20'.padStart(64, '0')}${word(to).slice(2)}`, 'hex')
  const log = { address, topics, data: new Uint8Array(data) }
  const receipt = createReceipt({ type: 2, succeeded: true, cumulativeGasUsed: 1n, logs: [log] } as never)
  return { ref: { number } as L1Ref, header: undefined as never, transactions: [], receipts: [receipt] }
}

function watched(answers: Record<string, string | Error>, finalized = () => 100) {
  const clock = createManualClock()
  const asked: unknown[] = []
  const signers: Address[] = []
  const rpc = {
    call: async ({ name }: Endpoint, [request]: readonly { params: unknown }[]) => {
      asked.push([name, request?.params])
      const answer = answers[name]
      if (answer instanceof Error) throw answer
      return [answer]
    },
  } as unknown as Rpc
  const watch = watchUnsafeSigner(
    {
      ...{ rpc, clock, log: silentLog },
      endpoints: Object.keys(answers).map((name) => ({ name }) as Endpoint),
      head: async () => ({ number: finalized() }) as L1Ref,
    },
    { contract, onSigner: (now) => void signers.push(now) },
  )
  return { clock, asked, signers, watch }
}

it('l1/unsafeSignerWatch: reads the slot at the finalized block, at the start and once an hour, and reports a change once', async () => {
  const answers = { a: word(signer(1)) }
  const { clock, asked, signers, watch } = watched(answers)
  await watch.first
  expect(asked).toEqual([['a', [contract, '0x65a7ed542fb37fe237fdfbdd70b31598523fe5b32879e307bae27a0bd9581c08', '0x64']]])
  await clock.advanceMs(3_600_000)
  answers.a = word(signer(2))
  await clock.advanceMs(3_600_000)
  expect([signers, asked.length]).toEqual([[signer(1), signer(2)], 3])
  watch[Symbol.dispose]()
  expect(clock.waiting).toBe(0)
})

it.each<[string, Record<string, string | Error>, Address[]]>([
  ['the majority decides', { a: word(signer(1)), b: word(signer(2)), c: word(signer(2)) }, [signer(2)]],
  ['a tie decides nothing', { a: word(signer(1)), b: word(signer(2)) }, []],
  ['a failing endpoint has no say', { a: new Error('down'), b: word(signer(2)) }, [signer(2)]],
  ['an empty slot has no say', { a: word(signer(0)) }, []],
  ['a malformed word has no say', { a: '0x12' }, []],
])('l1/unsafeSignerWatch: %s', async (_what, answers, expected) => {
  const { signers, watch } = watched(answers)
  await watch.first
  expect(signers).toEqual(expected)
})

it('l1/unsafeSignerWatch: an update event counts at once; an older finalized block does not revert it', async () => {
  let finalized = 100
  const { clock, signers, watch } = watched({ a: word(signer(1)) }, () => finalized)
  await watch.first
  watch.onBlock(updateAt(150, signer(3)))
  watch.onBlock(updateAt(149, signer(4)))
  watch.onBlock(updateAt(151, signer(5), signer(9)))
  await clock.advanceMs(3_600_000)
  expect(signers).toEqual([signer(1), signer(3)])
  finalized = 150
  await clock.advanceMs(3_600_000)
  expect(signers).toEqual([signer(1), signer(3), signer(1)])
})

it('l1/unsafeSignerWatch: events of blocks up to the last reading change nothing, later ones do', async () => {
  const { signers, watch } = watched({ a: word(signer(3)) })
  await watch.first
  for (const [number, to] of [
    [40, 1],
    [60, 2],
    [100, 4],
    [101, 5],
  ] as const)
    watch.onBlock(updateAt(number, signer(to)))
  expect(signers).toEqual([signer(3), signer(5)])
})

it('l1/unsafeSignerWatch: events count when no endpoint returned a signer', async () => {
  const { signers, watch } = watched({ a: new Error('down') })
  await watch.first
  watch.onBlock(updateAt(40, signer(1)))
  expect(signers).toEqual([signer(1)])
})

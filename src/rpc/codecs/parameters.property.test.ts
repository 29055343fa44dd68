import { array, assert, asyncProperty, constant, constantFrom, dictionary, jsonValue, nat, oneof, string, tuple } from 'fast-check'
import { expect, it } from 'vitest'
import type { Clock } from '#lib/clock'
import { createManualClock } from '#test/harness/clock'
import { account, fakeChain, fakeContext, fakePool, topic } from '#test/harness/rpc/fakes'
import { readResult } from '#test/harness/rpc/result'
import { RpcError } from '../errors.ts'
import { ethRegistry } from '../methods.ts'

const log = { address: account(1), topics: [topic(1)], data: new Uint8Array(0) }
const outcome = { kind: 'success', output: new Uint8Array(0) } as const
/** Clock whose timers fire in the next turn. */
const hasty: Clock = {
  ...createManualClock(),
  after: (_ms, run) => ({ [Symbol.dispose]: clearImmediate.bind(undefined, setImmediate(run)) }),
}
const context = { ...fakeContext(fakeChain([[], [[log]], []]), outcome), pool: fakePool(), clock: hasty }

/** Values that resemble parameters, so that some pass validation. */
const hexDigits = array(constantFrom(...'0123456789abcdefABCDEFg'), { maxLength: 70 }).map((digits) => `0x${digits.join('')}`)
const tag = constantFrom('latest', 'pending', 'safe', 'earliest', 'finalized', '0x0', '0x1', '0x2', '0xffffffffffffffff')
const scalar = oneof(hexDigits, tag, constant(account(1)), constant(topic(1)), string(), nat(), constantFrom(null, true, -1, 1.5))
const member = constantFrom(
  'address',
  'topics',
  'fromBlock',
  'toBlock',
  'blockHash',
  'blockNumber',
  'from',
  'to',
  'gas',
  'data',
  'input',
  'value',
  'accessList',
  'authorizationList',
  'chainId',
  'type',
  'gasPrice',
)
const structured = oneof(scalar, array(scalar, { maxLength: 4 }), dictionary(member, oneof(scalar, array(scalar, { maxLength: 5 }))))
const params = oneof(array(structured, { maxLength: 4 }), array(jsonValue(), { maxLength: 4 }))

/** An estimate searches; any other method runs a message once. */
const mostRuns = 20

it('rpc/registry: every method answers any parameters with JSON or an RpcError', async () => {
  const method = constantFrom(...ethRegistry.values())
  const seed = 20_260_711
  await assert(
    asyncProperty(tuple(method, params), async ([{ call }, given]) => {
      try {
        const result = readResult(await call(context, given)) ?? null
        expect(JSON.parse(JSON.stringify(result))).toEqual(result)
      } catch (error) {
        expect(error).toBeInstanceOf(RpcError)
      }
      expect(context.asked.splice(0).length).toBeLessThanOrEqual(mostRuns)
    }),
    { seed, numRuns: 3_000 },
  )
})

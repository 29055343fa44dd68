import { describe, expect, it } from 'vitest'
import { createManualClock } from '#test/harness/clock'
import { parseHash, zeroAddress } from '#types/ids'
import { createL1Client, refusalReason } from './l1Client.ts'

const { signal } = new AbortController()
const hash = parseHash(`0x${'12'.repeat(32)}`)

/** Client of an L1 with one fixed response. */
const clientOf = (answer: () => Promise<Response>) =>
  createL1Client({ fetch: answer, clock: createManualClock() }, { url: 'http://l1', account: zeroAddress })
const json = (body: unknown, status = 200) => clientOf(async () => new Response(JSON.stringify(body), { status }))

describe('devnet/l1Client', () => {
  it.each([
    ['a closed port', clientOf(() => Promise.reject(Object.assign(new Error('x'), { code: 'ECONNREFUSED' })))],
    ['HTTP 500', json({}, 500)],
    ['HTTP 403', json({}, 403)],
    ['HTTP 429', json({}, 429)],
    ['a body that is not JSON', clientOf(async () => new Response('<html>'))],
    ['JSON without a result', json({ jsonrpc: '2.0', id: 1 })],
    ['an error', json({ error: { code: -32_603, message: 'internal' } })],
    ['a list', json({ result: [] })],
    ['a part of the requested fields', json({ result: { blockHash: hash, number: '0x1', baseFeePerGas: ['0x1'] } })],
  ])('reads from an L1 with %s are retried (DEVNET_L1_SILENT)', async (_what, client) => {
    const fault = { code: 'DEVNET_L1_SILENT', severity: 'retry' }
    await expect(client.tip(signal)).rejects.toMatchObject(fault)
    await expect(client.nonces(signal)).rejects.toMatchObject(fault)
    await expect(client.inclusion(hash, signal)).rejects.toMatchObject(fault)
  })

  it('a missing response to a sent transaction is not a refusal (DEVNET_L1_SILENT)', async () => {
    await expect(json({}, 502).send(new Uint8Array(1), signal)).rejects.toMatchObject({ code: 'DEVNET_L1_SILENT', severity: 'retry' })
  })

  it('calls end with the reason of the signal', async () => {
    await expect(json({}).tip(AbortSignal.abort(new Error('enough')))).rejects.toThrow('enough')
    const abort = new AbortController()
    const hanging = createL1Client(
      {
        fetch: (_url, init) =>
          new Promise((_resolve, reject) => init?.signal?.addEventListener('abort', () => reject(new Error('aborted')))),
        clock: createManualClock(),
      },
      { url: 'http://l1', account: zeroAddress },
    )
    const asked = hanging.nonces(abort.signal)
    abort.abort(new Error('stop'))
    await expect(asked).rejects.toThrow('stop')
  })

  it('before blobs, a transaction costs its gas, and there is no blob base fee', async () => {
    const receipt = { blockHash: hash, blockNumber: '0x5', status: '0x0', gasUsed: '0x10', effectiveGasPrice: '0x3' }
    expect(await json({ result: receipt }).inclusion(hash, signal)).toEqual({ block: { hash, number: 5 }, succeeded: false, feeWei: 48n })
    const history = { baseFeePerGas: ['0x1', '0x2'], hash, number: '0x1', timestamp: '0x2' }
    expect(await json({ result: history }).tip(signal)).toEqual({ hash, number: 1, timestamp: 2, baseFeeWei: 2n, blobBaseFeeWei: 1n })
  })

  it.each([
    // geth
    ['nonce too low: next nonce 5, tx nonce 4', 'nonce-used'],
    ['replacement transaction underpriced: new tx gas fee cap 1 <= 2 queued', 'underpriced'],
    ['transaction underpriced', 'underpriced'],
    ['max fee per gas less than block base fee: address 0x…', 'underpriced'],
    ['insufficient funds for gas * price + value', 'no-funds'],
    // anvil
    ['nonce too low', 'nonce-used'],
    ['Insufficient funds for gas * price + value', 'no-funds'],
    // reth, nethermind
    ['OldNonce, Current nonce: 3, nonce of rejected tx: 2', 'nonce-used'],
    ['insufficient balance for transfer', 'no-funds'],
    ['the method eth_sendRawTransaction does not exist', 'other'],
  ])('%s: %s', (message, reason) => {
    expect(refusalReason(message)).toBe(reason)
  })

  it.each([['already known'], ['transaction already imported'], ['known transaction: 12ab']])('%s is not a fault', async (message) => {
    await json({ error: { code: -32_000, message } }).send(new Uint8Array(1), signal)
  })
})

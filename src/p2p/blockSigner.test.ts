import { expect, it } from 'vitest'
import { fromHex, toHex } from '#lib/hex'
import { keccak256 } from '#lib/keccak'
import { sequencer, sequencerKey } from '#test/harness/p2p/chain'
import { localSigner, remoteSigner } from './blockSigner.ts'
import { signerOf } from './protocol/envelope.ts'

const chainId = 8_453
const body = Uint8Array.from({ length: 600 }, (_, i) => i & 0xff)
const options = { url: 'http://signer.test', address: sequencer, chainId, headers: { 'x-key': 'k' } }
const local = localSigner(chainId, sequencerKey)

/** Returns a signer whose requests a function answers. */
const signerWith = (respond: (request: RequestInit) => Response | Promise<Response>) =>
  remoteSigner({ fetch: async (_, request) => respond(request ?? {}) }, options)

async function signed(recoveryOffset: number): Promise<string> {
  const { signature, yParity } = await local(body)
  return `${toHex(signature)}${(yParity + recoveryOffset).toString(16).padStart(2, '0')}`
}

it.each([0, 27])('p2p/blockSigner: reads the signature of a remote signer, recovery id from %i', async (offset) => {
  const requests: RequestInit[] = []
  const sign = signerWith(async (request) => {
    requests.push(request)
    return Response.json({ jsonrpc: '2.0', id: 1, result: await signed(offset) })
  })
  const { signature, yParity } = await sign(body)
  expect(signerOf({ signature, recoveryId: yParity, body }, chainId)).toBe(sequencer)
  expect(requests[0]?.headers).toMatchObject({ 'x-key': 'k' })
  expect(JSON.parse(String(requests[0]?.body))).toMatchObject({
    method: 'opsigner_signBlockPayloadV2',
    params: [{ chainId: '0x2105', payloadHash: toHex(keccak256(body)), senderAddress: sequencer }],
  })
})

it.each<[string, () => Response, RegExp]>([
  ['an error', () => Response.json({ error: { message: 'account locked' } }), /account locked/],
  ['HTTP 500', () => new Response('', { status: 500 }), /HTTP 500/],
  ['no JSON', () => new Response('<html>'), /JSON/],
  ['a short signature', () => Response.json({ result: '0x01' }), /./],
  ['recovery id 5', () => Response.json({ result: toHex(new Uint8Array([...fromHex(`0x${'01'.repeat(64)}`), 5])) }), /recovery id 5/],
  ['a large response', () => new Response('x'.repeat(5_000)), /5000 bytes/],
])('p2p/blockSigner: fails on %s (P2P_SIGNER)', async (_, respond, reason) => {
  await expect(signerWith(respond)(body)).rejects.toMatchObject({
    code: 'P2P_SIGNER',
    severity: 'retry',
    message: expect.stringMatching(reason),
  })
})

it('p2p/blockSigner: fails when the remote signer does not answer within a second (P2P_SIGNER)', async () => {
  const sign = signerWith(
    ({ signal }) => new Promise((_, reject) => signal?.addEventListener('abort', () => reject(signal.reason), { once: true })),
  )
  const fromMs = performance.now()
  await expect(sign(body)).rejects.toMatchObject({ code: 'P2P_SIGNER' })
  expect(performance.now() - fromMs).toBeGreaterThan(900)
})

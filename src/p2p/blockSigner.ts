import { fromHexFixed, toHex, toQuantity } from '#lib/hex'
import { keccak256 } from '#lib/keccak'
import { signDigest } from '#lib/secp256k1'
import type { Address, Hash } from '#types/ids'
import { p2pFault } from './faults.ts'
import { type BlockSignature, signingHash } from './protocol/envelope.ts'

/** Signs the body of a block message. Rejects with P2P_SIGNER (retry). */
export type BlockSigner = (body: Uint8Array) => Promise<BlockSignature>

/** Returns a signer with a key in this process. */
export function localSigner(chainId: number, key: Uint8Array): BlockSigner {
  return async (body): Promise<BlockSignature> => signDigest(signingHash(chainId, body), key)
}

export type RemoteSignerOptions = {
  readonly url: string
  /** account that signs */
  readonly address: Address
  readonly chainId: number
  readonly headers: Readonly<Record<string, string>>
}

const timeoutMs = 1_000
const maxAnswerBytes = 4_096

function signatureOf(answer: unknown): BlockSignature {
  const { result, error } = (typeof answer === 'object' && answer !== null ? answer : {}) as {
    result?: unknown
    error?: { message?: unknown }
  }
  if (typeof result !== 'string') throw new Error(String(error?.message ?? 'no result').slice(0, 200))
  const bytes = fromHexFixed(result, 65)
  const recoveryId = (bytes[64] ?? 0) % 27
  if (recoveryId > 1) throw new Error(`recovery id ${bytes[64]}`)
  return { signature: bytes.subarray(0, 64), yParity: recoveryId === 1 ? 1 : 0 }
}

/**
 * Returns a signer over HTTP, which answers `opsigner_signBlockPayloadV2`. A request takes at most a second: the block is worth nothing later.
 * @see op-signer, "opsigner_signBlockPayloadV2"
 */
export function remoteSigner(deps: { readonly fetch: typeof fetch }, { url, address, chainId, headers }: RemoteSignerOptions): BlockSigner {
  return async (body): Promise<BlockSignature> => {
    const params = [
      {
        domain: toHex(new Uint8Array(32)) as Hash,
        chainId: toQuantity(chainId),
        payloadHash: toHex(keccak256(body)),
        senderAddress: address,
      },
    ]
    try {
      const response = await deps.fetch(url, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'opsigner_signBlockPayloadV2', params }),
        signal: AbortSignal.timeout(timeoutMs),
      })
      if (!response.ok) throw new Error(`HTTP ${response.status}`)
      const text = await response.text()
      if (text.length > maxAnswerBytes) throw new Error(`${text.length} bytes`)
      return signatureOf(JSON.parse(text))
    } catch (error) {
      throw p2pFault('P2P_SIGNER', { reason: error instanceof Error ? error.message : String(error) }, error)
    }
  }
}

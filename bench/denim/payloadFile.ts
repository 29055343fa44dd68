import { once } from 'node:events'
import { createWriteStream, statSync } from 'node:fs'
import { encodePayload } from '#engine/payloadJson'
import type { Payload } from '#types/payload'
import type { DenimBlocks } from './chain.ts'

const blockGas = 8_000_000
const toldEvery = 1_000

/**
 * Builds blocks and writes them as lines that `basalt import` reads: first the given ones, then `count` blocks of about 8 Mgas.
 * @param first transactions of the first blocks
 * @param next returns the next transaction of the others
 */
export async function writeMixedBlocks(
  path: string,
  blocks: DenimBlocks,
  first: readonly (readonly Uint8Array[])[],
  count: number,
  next: () => Uint8Array,
): Promise<void> {
  const file = createWriteStream(path)
  const write = async (payload: Payload): Promise<void> => {
    const line = JSON.stringify({ p: encodePayload(payload), root: payload.parentBeaconBlockRoot })
    if (!file.write(`${line}\n`)) await once(file, 'drain')
  }
  for (const transactions of first) await write(await blocks.add(transactions))
  let [size, transactions, gas] = [100, 0, 0]
  for (let made = 1; made <= count; made++) {
    const payload = await blocks.add(Array.from({ length: Math.round(size) }, next))
    await write(payload)
    transactions += payload.transactions.length
    gas += Number(payload.gasUsed)
    size *= 1 + 0.1 * (blockGas / Number(payload.gasUsed) - 1)
    if (made % toldEvery === 0) process.stderr.write(`${made} blocks of ${(gas / made / 1e6).toFixed(2)} Mgas made\n`)
  }
  file.end()
  await once(file, 'close')
  const perBlock = (total: number): string => (total / count).toFixed(1)
  const text = `${perBlock(transactions)} transactions, ${perBlock(gas / 1e6)} Mgas, ${perBlock(statSync(path).size / 1e3)} kB of JSON each`
  process.stderr.write(`${count} blocks: ${text}\n`)
}

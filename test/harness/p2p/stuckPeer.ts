// Thread with a peer that joins the mesh of a victim and then never runs again: it reads nothing, and its sockets stay open.
import { parentPort, workerData } from 'node:worker_threads'
import { connectAttacker, frameOf, graft } from './attacker.ts'

const { victim, topics } = workerData as { readonly victim: string; readonly topics: readonly string[] }
const attacker = await connectAttacker(victim, topics)
await attacker.send(frameOf(...topics.map(graft)))
// the answers to the GRAFT are read before it stops
await new Promise((resolve) => setTimeout(resolve, 1_500))
parentPort?.postMessage(attacker.peerId)
setTimeout(() => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0), 0)

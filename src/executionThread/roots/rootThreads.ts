import { type RootThreads, type RootWork, rowCount, type SharedRoot } from '#state/rootParts'
import { TrieDiff } from '#trie/trieDiff'
import type { UpdatedState } from '#trie/tries'
import { drainOf } from '../drainOf.ts'
import { RootClaims } from './rootClaims.ts'
import { type RootAnswer, type RootLink, type RootMessage, RootQueue } from './rootLink.ts'

/** Longest wait for a part: three times what its rows usually take, and a delay of the thread. */
const waitMs = 10
const waitMsPerRow = 0.1

/** Minimum rows of a diff. One thread shares its core with the thread that commits, which needs it while blocks of usual size wait. */
const [minRowsOfOne, minRowsOfSeveral] = [2_048, 256]

/** The threads of a node that compute parts of state roots, as the execution thread uses them. */
export class LinkedRootThreads implements RootThreads {
  readonly minRows: number
  readonly #links: readonly { readonly post: (message: RootMessage) => void; readonly queue: RootQueue }[]
  readonly #drains: readonly (() => void)[]
  #number = 0
  /** of the present work, by part */
  #answers = new Map<number, UpdatedState>()

  constructor(links: readonly RootLink[], minRows: number = links.length > 1 ? minRowsOfSeveral : minRowsOfOne) {
    this.minRows = minRows
    this.#links = links.map(({ port, queue }) => ({ post: (message) => port.postMessage(message), queue: new RootQueue(queue) }))
    this.#drains = links.map(({ port }) => drainOf<RootAnswer>(port, (answer) => this.#take(answer)))
  }

  offer({ parentRoot, diff, parts, layers }: RootWork): SharedRoot | undefined {
    const links = this.#links.filter(({ queue }) => queue.isFree)
    if (links.length === 0) return undefined
    const claims = RootClaims.create(parts.length)
    const number = ++this.#number
    const message = { number, claims: claims.memory, parentRoot, diff: diff.bytes, parts, layers: layers() }
    for (const { post, queue } of links) {
      queue.posted()
      post(message)
    }
    let isLate = false
    return {
      claim: (part): boolean => claims.claim(part),
      result: (part): UpdatedState | undefined => {
        const rows = parts[part] ? rowCount(parts[part]) : 0
        const outcome = claims.wait(part, isLate ? 0 : waitMs + rows * waitMsPerRow)
        isLate ||= outcome === 'late'
        if (outcome === 'done' && !this.#answers.has(part)) this.#drain()
        return this.#answers.get(part)
      },
      [Symbol.dispose]: (): void => {
        claims.close()
        this.#drain()
        this.#answers = new Map()
      },
    }
  }

  #drain(): void {
    for (const drain of this.#drains) drain()
  }

  #take({ number, part, root, nodes, storageRoots }: RootAnswer): void {
    // an answer of earlier work came too late
    if (number === this.#number) this.#answers.set(part, { root, nodes: new TrieDiff(nodes), storageRoots })
  }
}

// Reads the prose of a file (comments, messages, test titles, paragraphs of pages) and marks wording that is hard to understand.

/** A kind of prose; each has a limit of its own. */
export type Group = 'comments' | 'messages' | 'test titles' | 'paragraphs'

/** One piece of prose with the line it begins on, counted from 1. */
export interface Passage {
  readonly group: Group
  readonly file: string
  readonly line: number
  readonly text: string
}

/** A passage that is hard to understand, with the names of the patterns it matches. */
export interface MarkedPassage extends Passage {
  readonly marks: readonly string[]
}

/** Highest share of marked passages for each group, in percent. Lower a limit when its share falls; never raise one. */
export const limits: Readonly<Record<Group, number>> = { comments: 5, messages: 5, 'test titles': 5, paragraphs: 5 }

/** Wording that hides the actor, the thing or the verb of a sentence. A match can be harmless, therefore a share of matches is allowed. */
const patterns: Readonly<Record<string, RegExp>> = {
  'unnamed actor': /\b(who|whoever|whom|somebody|someone|nobody|no one|everybody|anybody)\b/i,
  'unnamed thing': /\b(that which|those (that|who|which)|the ones? (that|who|which)|one that)\b/i,
  'clause for a noun':
    /\bwhat (is|was|are|were|has|had|can|may|must|it|they|we|he|a|an|the|this|that|there|comes|came|follows|became|else|only)\b/i,
  'verb of speech': /\b(tells?|told|telling|speaks? of|spoken of|is silent)\b/i,
  'verb of posture': /\b(stands?|stood|lies|rests)\b/i,
  'phrasal verb':
    /\b((goes|go|going|went|comes?|came) (by|on|back|ahead|out|about|to nothing)|(gives?|given|gave) up|gets? about|knows? of|makes? true)\b/i,
  archaic: /\b(anew|in vain|for ever|henceforth|thereafter|nevertheless|lately|any ?more|beside|dear|so (much|many) (of|as)|one's own)\b/i,
  'as X has it': /\bas [\w' -]+ (has|have) (it|them)\b/i,
  inversion: /^\W*(of (what|which|those|all|the)|from now on|to (whom|which))\b/i,
  'double negation': /\b(nothing|none|never|nowhere|not|no \w+) but\b|\bnot without\b|\bno \w+ without\b/i,
}

/** Names of the patterns that a text matches. Text between backticks is code and is not read. */
export function marksOf(text: string): readonly string[] {
  const prose = text.replace(/`[^`]*`/g, 'code')
  return Object.keys(patterns).filter((name) => patterns[name]?.test(prose))
}

/** Comments (adjacent lines of `//` are one), strings, templates with one level of nesting, regular expressions. Group 1 is a comment, group 2 a string. */
const tokens = new RegExp(
  [
    /(\/\*[\s\S]*?\*\/|\/\/[^\n]*(?:\n[ \t]*\/\/[^\n]*)*)/,
    /('(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"|`(?:[^`\\$]|\\[\s\S]|\$(?!\{)|\$\{(?:[^{}`]|`[^`]*`|\{[^{}]*\})*\})*`)/,
    /(?<=[=(,:[!&|?{};]\s*)\/(?:[^/\\\n[]|\\.|\[(?:[^\]\\\n]|\\.)*\])+\//,
  ]
    .map(({ source }) => source)
    .join('|'),
  'g',
)

/** True for a string that is the first argument of `it`, `test` or `describe`, also after a table: `it.each([…])(title)`. */
const opensTest = (before: string): boolean => /\b(it|test|describe)(\.\w+(\([^\n]*\))?)*\(\s*$|\]\)\(\s*$/.test(before)

/** A string is prose when it has a lower-case word between two spaces. */
const isProse = (text: string): boolean => / [a-z]+[,;:]? /.test(text)

/** Passages of a source file: comments, titles of tests, and other strings that are prose. */
function passagesOfSource(file: string, source: string): Passage[] {
  const passages = Array.from(source.matchAll(tokens), ({ 1: comment, 2: string, index }): Passage => {
    const before = source.slice(0, index)
    const group = comment !== undefined ? 'comments' : opensTest(before.slice(-200)) ? 'test titles' : 'messages'
    return { group, file, line: lineAt(before), text: comment ?? string?.slice(1, -1) ?? '' }
  })
  return passages.filter(({ group, text }) => (group === 'messages' ? isProse(text) : /[a-z]{3}/.test(text)))
}

/** Passages of a page: paragraphs, list items, headings and table rows, without blocks of code. */
function passagesOfPage(file: string, page: string): Passage[] {
  const prose = page.replace(/^```[\s\S]*?^```/gm, (block) => block.replace(/[^\n]/g, ''))
  return Array.from(prose.matchAll(/\S[\s\S]*?(?=\n\s*\n|\n\s*[-*|#]|\s*$)/g), ({ 0: text, index }): Passage => {
    return { group: 'paragraphs', file, line: lineAt(prose.slice(0, index)), text }
  }).filter(({ text }) => /[a-z]{3}/.test(text))
}

const lineAt = (before: string): number => before.split('\n').length

/** Returns the prose of a file, in order. A file that ends with `.md` is a page, any other one a source file. */
export function passagesOf(file: string, content: string): Passage[] {
  return file.endsWith('.md') ? passagesOfPage(file, content) : passagesOfSource(file, content)
}

/** The result for one group. `tooMany` is set when the share of marked passages is above the limit. */
export interface GroupResult {
  readonly group: Group
  readonly count: number
  readonly marked: readonly MarkedPassage[]
  /** In percent; 0 for a group without passages. */
  readonly share: number
  readonly limit: number
  readonly tooMany: boolean
}

/** Judges passages by group; the marked passages of a group are sorted by their number of marks, highest first. */
export function judgeProse(passages: readonly Passage[], allowed: Readonly<Record<Group, number>> = limits): GroupResult[] {
  return (Object.keys(allowed) as Group[]).map((group) => {
    const all = passages.filter((passage) => passage.group === group)
    const marked = all
      .map((passage) => ({ ...passage, marks: marksOf(passage.text) }))
      .filter(({ marks }) => marks.length > 0)
      .sort((a, b) => b.marks.length - a.marks.length)
    const share = all.length === 0 ? 0 : (100 * marked.length) / all.length
    return { group, count: all.length, marked, share, limit: allowed[group], tooMany: share > allowed[group] }
  })
}

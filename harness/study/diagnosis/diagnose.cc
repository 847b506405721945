#include "harness/study/diagnosis/diagnose.h"

#include "harness/core/error.h"
#include "harness/study/diagnosis/excess.h"
#include "harness/study/diagnosis/model_run.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace attest {
namespace {

using Clock = std::chrono::steady_clock;

constexpr double kFarBetter = 0.6;      // of the next score
constexpr double kTilesMatter = 1;      // bounds by which a fault's outputs differ between two tile sizes
constexpr double kLargeEffect = 10;     // bounds that two faults must be off to be one answer when they are near
constexpr std::size_t kFirstClues = 3;  // that the shortlist is made on
constexpr std::size_t kShortlist = 16;  // faults that are looked at closely
constexpr double kUnseenScore = 1.2;    // of a fault that changes nothing on the first clues

// NaN is the same as NaN here.
bool same(const std::vector<Seen>& a, const std::vector<Seen>& b) {
  const auto same_values = [](const std::vector<double>& x, const std::vector<double>& y) {
    return x.size() == y.size() && std::memcmp(x.data(), y.data(), x.size() * sizeof(double)) == 0;
  };
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [&](const Seen& x, const Seen& y) {
    return std::equal(x.begin(), x.end(), y.begin(), y.end(), same_values);
  });
}

// nullopt where the case can't be made or the kernel leaves nothing.
std::optional<Clue> look(const Case& c, Host& kernel, const DiagnoseOptions& options) {
  try {
    auto subject = set_up(c, kernel);
    if (!subject) return std::nullopt;
    const Prepared& made = subject->prepared;
    subject->right = right_outcomes(c, kernel.contract(), made.problem, made.call, Precision::F64);
    const Outputs left =
        options.launch ? options.launch(*subject, kernel) : launch(*subject, subject->prepared.call, c.fault, kernel);
    if (!left.reply.ok()) return std::nullopt;
    Clue clue{.c = c, .subject = std::move(*subject), .sights = {}, .seen = {}};
    clue.sights = sights(clue.subject);
    clue.seen = seen(clue.subject, left);
    return clue;
  } catch (const CaseError&) { return std::nullopt; }  // this probe can't be made with the case's options
}

bool is_off(const Clue& clue) {
  Seen right;
  for (const Sight& sight : clue.sights) right.push_back(sight.right);
  return !(largest_difference(clue.sights, clue.seen, right) <= 1);
}

class Detective {
 public:
  Detective(const Case& c, Host& kernel, Models& models, const std::vector<Fault>& catalogue,
            const DiagnoseOptions& options)
      : kernel_(kernel), models_(models), options_(options) {
    models_.make_room();
    collect(c);
    for (const Clue& clue : clues_) {
      Case healthy = clue.c;
      healthy.fault.clear();
      bench_.push_back(set_up(healthy, models_.host(kernel.contract(), healthy, options.tiles.front())));
      if (bench_.back()) bench_.back()->right.values = clue.subject.right.values;
    }
    for (const Fault& fault : catalogue)
      if (std::any_of(clues_.begin(), clues_.end(), [&](const Clue& clue) { return in_scope(fault, clue.c); }))
        faults_.push_back(&fault);
  }

  std::vector<Suspect> suspects() {
    std::vector<Suspect> all;
    std::vector<std::vector<Seen>> predictions;  // of each suspect, by the shapes it was run in
    for (const Fault* fault : shortlist()) {
      if (!all.empty() && Clock::now() - begin_ > options_.budget) break;  // the likeliest came first
      Suspect suspect{.names = {fault->name}, .says = fault->says, .match = {}};
      std::vector<Seen> seen = run(*fault, suspect);
      if (seen.empty()) continue;
      const auto twin = std::find_if(predictions.begin(), predictions.end(),
                                     [&](const auto& other) { return alike(other, seen, suspect.match.healthy); });
      if (twin != predictions.end()) {
        all[static_cast<std::size_t>(twin - predictions.begin())].names.push_back(fault->name);
        continue;
      }
      all.push_back(std::move(suspect));
      predictions.push_back(std::move(seen));
    }
    std::ranges::stable_sort(all, {}, [](const Suspect& s) { return s.match.score(); });
    return all;
  }

  const std::vector<Clue>& clues() const { return clues_; }

 private:
  bool in_scope(const Fault& fault, Case c) const {
    c.fault.clear();
    return holds(fault.when, c, kernel_.contract());
  }

  void collect(const Case& failing) {
    for (const Case& c : siblings(lighter(failing))) {
      if (!clues_.empty() && Clock::now() - begin_ > options_.budget / 8) break;
      std::optional<Clue> clue = look(c, kernel_, options_);
      if (!clue) continue;
      sights_.insert(sights_.end(), clue->sights.begin(), clue->sights.end());
      append(actual_, clue->seen);
      clues_.push_back(std::move(*clue));
    }
  }

  std::vector<Shape> shapes() const {
    const Case& c = clues_.front().c;
    const bool splits = c.splits > 1 || (c.splits == 0 && arithmetic(kernel_.contract(), c).partial);
    std::vector<Shape> all;
    for (const int tile : options_.tiles) all.push_back({tile, splits ? options_.splits.front() : 0});
    for (std::size_t i = 1; splits && i < options_.splits.size(); ++i) {
      all.push_back({options_.tiles.front(), options_.splits[i]});
      all.push_back({options_.tiles[options_.tiles.size() / 2], options_.splits[i]});
    }
    return all;
  }

  ModelRun& model(std::size_t shape) {
    models_made_.resize(shapes().size());
    auto& made = models_made_[shape];
    if (!made) made = std::make_unique<ModelRun>(bench_, clues_, kernel_.contract(), models_, shapes()[shape]);
    return *made;
  }

  // A middle tile, then the smallest, then the others.
  std::vector<std::size_t> order() const {
    const std::size_t count = shapes().size(), middle = options_.tiles.size() / 2;
    std::vector<std::size_t> all{middle};
    for (std::size_t i = 0; i < count; ++i)
      if (i != middle) all.push_back(i);
    return all;
  }

  // The same bits, or so near that no rule could tell them: a scale that is inverted where it is handed over or where
  // it is used.
  bool alike(const std::vector<Seen>& a, const std::vector<Seen>& b, double effect) const {
    if (same(a, b)) return true;
    if (a.size() != b.size() || effect < kLargeEffect) return false;
    for (std::size_t i = 0; i < a.size(); ++i)
      if (!nearly_same(sights_, a[i], b[i])) return false;
    return true;
  }

  Match compare(const ModelRun& by, const Seen& faulty) const {
    const std::span<const Sight> sights(sights_.data(), faulty.size());
    return match(sights, actual_, by.healthy(), faulty);
  }

  // The faults that look most alike on the first clues, in one shape.
  std::vector<const Fault*> shortlist() {
    std::vector<std::pair<double, const Fault*>> scores;
    ModelRun& first = model(order().front());
    const std::size_t count = std::min(kFirstClues, clues_.size());
    for (const Fault* fault : faults_)
      if (const auto seen = first.under(*fault, count))
        scores.emplace_back(compare(first, *seen).score(), fault);
      else if (first.under(*fault, clues_.size()))
        scores.emplace_back(kUnseenScore, fault);
    std::ranges::stable_sort(scores, {}, [](const auto& s) { return s.first; });
    std::vector<const Fault*> all;
    for (const auto& [score, fault] : scores)
      if (all.size() < kShortlist || score == scores[kShortlist - 1].first) all.push_back(fault);
    return all;
  }

  // The fault in two shapes that differ most; in all of them where those two differ. Empty: it changes nothing.
  std::vector<Seen> run(const Fault& fault, Suspect& suspect) {
    std::vector<Seen> all;
    for (const std::size_t shape : order()) {
      if (all.size() == 2 && largest_difference(sights_, all[0], all[1]) < kTilesMatter) break;
      std::optional<Seen> seen = model(shape).under(fault, clues_.size());
      if (!seen) continue;
      if (const Match m = compare(model(shape), *seen); all.empty() || m.score() < suspect.match.score()) {
        suspect.match = m;
        const Seen failing(seen->begin(), seen->begin() + static_cast<std::ptrdiff_t>(clues_.front().sights.size()));
        const Match here = compare(model(shape), failing);
        suspect.ratio = here.ratio;
        suspect.healthy = here.healthy;
      }
      all.push_back(std::move(*seen));
    }
    return all;
  }

  Host& kernel_;
  Models& models_;
  const DiagnoseOptions& options_;
  Clock::time_point begin_ = Clock::now();
  std::vector<Clue> clues_;
  Bench bench_;  // by clue
  std::vector<Sight> sights_;
  Seen actual_;
  std::vector<const Fault*> faults_;
  std::vector<std::unique_ptr<ModelRun>> models_made_;
};

std::vector<std::string> places_of(const Clue& clue, const Verdict& failed) {
  const Subject& s = clue.subject;
  if (s.prepared.problem.op == Op::Write || s.prepared.problem.op == Op::Rope) return {};
  const bool lse = failed.kind == FailKind::Lse;
  const ExpectedTensor& right = lse ? s.right.values.lse : s.right.values.out;
  const std::vector<double>& values = clue.seen[lse ? 1 : 0];
  const Element actual = [&](int row, int head, int dim) { return values[right.index(row, head, dim)]; };
  const std::vector<int> keys =
      s.prepared.problem.op == Op::Attend ? heaviest_keys(s.prepared.problem, s.prepared.call) : std::vector<int>{};
  return excess_places(right, actual, s.prepared.problem, keys, arithmetic(*s.contract, s.c).tile);
}

}  // namespace

bool Diagnosis::certain() const {
  if (suspects.empty() || !suspects.front().matches()) return false;
  return suspects.size() == 1 || suspects[0].match.score() < kFarBetter * suspects[1].match.score();
}

Diagnosis diagnose(const Case& c, const Verdict& failed, Host& kernel, Models& models,
                   const std::vector<Fault>& catalogue, const DiagnoseOptions& options) {
  Diagnosis diagnosis{.sentence = sentence_of(failed), .suspects = {}, .places = {}};
  if (!diagnosis.sentence.empty()) return diagnosis;
  if (c.phase == Phase::Rope) return diagnosis.sentence = "there is no model of rope to compare it with", diagnosis;
  Detective detective(c, kernel, models, catalogue, options);
  diagnosis.cases = static_cast<int>(detective.clues().size());
  if (diagnosis.cases == 0) return diagnosis.sentence = "the kernel left nothing to compare", diagnosis;
  const Clue& first = detective.clues().front();
  if (std::ranges::none_of(detective.clues(), is_off))
    diagnosis.sentence = "too large to be compared as it is, and what is smaller does not fail: shrink it first";
  else
    diagnosis.suspects = detective.suspects();
  if (first.c == c)
    diagnosis.places = places_of(first, failed);
  else if (const auto whole = look(c, kernel, options))
    diagnosis.places = places_of(*whole, failed);
  return diagnosis;
}

}  // namespace attest
